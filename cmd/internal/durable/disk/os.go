package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// directory is a Dir of the operating system.
type directory string

// OS returns the directory of the operating system at path, which need not exist yet.
func OS(path string) Dir { return directory(path) }

// Make is OS, but makes the directory, readable by its owner only, if it does not exist.
func Make(path string) (Dir, error) {
	if _, err := os.Stat(path); err == nil {
		return directory(path), nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return directory(path), directory(filepath.Dir(path)).Sync()
}

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) open(name string, flag int) (File, error) {
	f, err := os.OpenFile(d.path(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (d directory) Open(name string) (File, error) { return d.open(name, os.O_RDONLY) }

func (d directory) Edit(name string) (File, error) { return d.open(name, os.O_RDWR) }

func (d directory) Create(name string) (File, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d directory) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d directory) Remove(name string) error { return os.Remove(d.path(name)) }

func (d directory) List() ([]Info, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(entries))
	for i, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		list[i] = Info{e.Name(), info.Size(), info.Mode().IsRegular()}
	}
	return list, nil
}

func (d directory) Free() (int64, error) { return free(string(d)) }

func (d directory) Sync() error {
	if runtime.GOOS == "windows" {
		return nil // which cannot sync directories
	}
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d directory) Lock(shared bool) (io.Closer, error) { return lockDirectory(string(d), shared) }

type file struct{ *os.File }

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f file) Prefetch() { prefetch(f.File) }

func (f file) Sync() error { return syncData(f.File) }

func (f file) Allocate(size int64) error {
	err := reserve(f.File, size)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return f.fill(size)
}

// fill writes zeros from the end of the file to size: on file systems that reserve no space.
func (f file) fill(size int64) error {
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
