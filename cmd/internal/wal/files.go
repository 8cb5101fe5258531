package wal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Dir is the directory of a log. Its methods may be called concurrently. Tests replace it by a
// directory whose disk fails and loses power.
type Dir interface {
	// Open opens a file for reading. The error wraps fs.ErrNotExist if the file does not exist.
	Open(name string) (File, error)
	// Edit opens an existing file for reading and writing.
	Edit(name string) (File, error)
	// Create makes an empty file, or empties an existing one, and opens it for reading and writing.
	Create(name string) (File, error)
	// Rename replaces the file to, if it exists.
	Rename(from, to string) error
	Remove(name string) error
	// List returns the names of the files and directories, sorted.
	List() ([]string, error)
	// Sync makes the files that were created, renamed and removed before durable.
	Sync() error
	// Lock excludes other processes until the result is closed. A shared lock excludes exclusive
	// locks only. The error wraps ErrLocked if another process has the directory locked.
	Lock(shared bool) (io.Closer, error)
}

// File is a file of a Dir.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Allocate extends the file to at least size bytes with zeros and reserves the space, so
	// that writes below size do not fail on a full disk.
	Allocate(size int64) error
	// Sync makes the data that was written before and the size durable.
	Sync() error
}

// osDir is a directory of the operating system.
type osDir string

func (d osDir) path(name string) string { return filepath.Join(string(d), name) }

func (d osDir) Open(name string) (File, error) { return openFile(d.path(name), os.O_RDONLY) }

func (d osDir) Edit(name string) (File, error) { return openFile(d.path(name), os.O_RDWR) }

func (d osDir) Create(name string) (File, error) {
	return openFile(d.path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d osDir) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d osDir) Remove(name string) error { return os.Remove(d.path(name)) }

func (d osDir) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (d osDir) Sync() error { return syncDir(string(d)) }

func (d osDir) Lock(shared bool) (io.Closer, error) { return lockDirectory(string(d), shared) }

type osFile struct{ *os.File }

func openFile(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Sync() error { return syncData(f.File) }

func (f osFile) Allocate(size int64) error {
	err := reserve(f.File, size)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return f.fill(size)
}

// fill writes zeros from the end of the file to size: on file systems that reserve no space.
func (f osFile) fill(size int64) error {
	from, err := f.Size()
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for from < size {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-from)], from)
		if err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
