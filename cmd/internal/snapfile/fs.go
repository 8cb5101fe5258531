package snapfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// FS is a directory without subdirectories. Its methods may be called concurrently. Tests replace it
// by a disk in memory.
type FS interface {
	// Create opens a file for writing. It creates the file or truncates an existing one.
	Create(name string) (File, error)
	// Read returns the contents of a file, or its first limit bytes. The error wraps
	// fs.ErrNotExist if there is no such file.
	Read(name string, limit int) ([]byte, error)
	// ReadAt reads a part of a file into b. It returns fewer bytes if the file ends before. The error
	// wraps fs.ErrNotExist if there is no such file.
	ReadAt(name string, b []byte, offset int64) (int, error)
	// Prefetch makes the system read a file in the background, if it can.
	Prefetch(name string)
	// Rename gives a file a new name and replaces the file that has the name.
	Rename(from, to string) error
	// Remove deletes a file. The error wraps fs.ErrNotExist if there is no such file.
	Remove(name string) error
	// List returns all files, in any order.
	List() ([]Info, error)
	// Allocate creates a file of size bytes, for which the disk has room from then on. After an
	// error a part of the file may exist.
	Allocate(name string, size int64) error
	// SyncDir makes all creations, renames and removals durable.
	SyncDir() error
}

// File is a file that is being written.
type File interface {
	io.WriteCloser
	// Sync makes the contents durable. Its name is durable after FS.SyncDir.
	Sync() error
}

// Info is a file of a directory.
type Info struct {
	Name string
	Size int64
}

// directory is an FS of the operating system.
type directory string

// OS returns the directory at path. If it does not exist, it is made, readable by its owner only.
func OS(path string) (FS, error) {
	if _, err := os.Stat(path); err == nil {
		return directory(path), nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return directory(path), directory(filepath.Dir(path)).SyncDir()
}

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) Create(name string) (File, error) {
	return os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (d directory) Read(name string, limit int) ([]byte, error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size(), int64(limit)))
	_, err = io.ReadFull(f, b)
	return b, err
}

func (d directory) ReadAt(name string, b []byte, offset int64) (int, error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (d directory) Prefetch(name string) {
	if f, err := os.Open(d.path(name)); err == nil {
		prefetch(f)
		f.Close()
	}
}

// zeros writes size zero bytes, for systems that cannot allocate them otherwise.
func zeros(f *os.File, size int64) error {
	block := make([]byte, 1<<20)
	for size > 0 {
		n, err := f.Write(block[:min(size, int64(len(block)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

func (d directory) Allocate(name string, size int64) error {
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = allocate(f, size); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (d directory) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d directory) Remove(name string) error { return os.Remove(d.path(name)) }

func (d directory) List() ([]Info, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			list = append(list, Info{Name: e.Name(), Size: info.Size()})
		}
	}
	return list, nil
}

func (d directory) SyncDir() error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
