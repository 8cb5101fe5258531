package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file in an archive, or a directory if mode has fs.ModeDir.
type file struct {
	name string // with slashes, relative
	mode fs.FileMode
	data []byte
}

// withDirectories returns files in the order of their names, after the directories that contain them.
func withDirectories(files []file) []file {
	all := slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			all = append(all, file{name: dir, mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortStableFunc(all, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return slices.CompactFunc(all, func(a, b file) bool { return a.name == b.name })
}

// tarred returns an archive of files whose names have the prefix. All files have the same time and, unless
// owner returns another number, belong to root.
func tarred(files []file, prefix string, at time.Time, owner func(name string) int) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range withDirectories(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: prefix + f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: at}
		if f.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if owner != nil {
			h.Uid = owner(f.name)
			h.Gid = h.Uid
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipped compresses data. The result contains neither a name nor a time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// tarGzip returns a compressed tar archive.
func tarGzip(files []file, at time.Time) ([]byte, error) {
	data, err := tarred(files, "", at, nil)
	if err != nil {
		return nil, err
	}
	return gzipped(data)
}

// zipped returns a zip archive.
func zipped(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range withDirectories(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		if f.mode.IsDir() {
			h.Name, h.Method = strings.TrimSuffix(f.name, "/")+"/", zip.Store
		}
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
