package disktest

import (
	"errors"
	"io"
	"syscall"
)

// file is a file as one process has it open.
type file struct {
	dir   *dir
	inode *inode
	name  string
	write bool
}

func (f *file) change(op Op) error {
	if !f.write {
		return errRead
	}
	return f.dir.begin(op, f.name)
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	if err := f.dir.begin(Read, f.name); err != nil {
		return 0, err
	}
	defer f.dir.disk.mu.Unlock()
	if at >= int64(len(f.inode.data)) {
		return 0, io.EOF
	}
	if bad := f.inode.spoilt; int64(bad[0]) < at+int64(len(b)) && at < int64(bad[1]) {
		return 0, syscall.EIO
	}
	n := copy(b, f.inode.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes b. If the hook returns an error, the first half of b may have been written.
func (f *file) WriteAt(b []byte, at int64) (int, error) {
	if err := f.change(Write); err != nil {
		if half, ok := errors.AsType[Half](err); ok && f.dir.enter() == nil {
			f.inode.put(b[:len(b)/2], int(at))
			f.dir.disk.mu.Unlock()
			return len(b) / 2, half.Err
		}
		return 0, err
	}
	defer f.dir.disk.mu.Unlock()
	grows := max(0, int(at)+len(b)-len(f.inode.data))
	room, err := f.dir.disk.room(grows)
	n := max(0, len(b)-grows+room)
	if n > 0 {
		f.inode.put(b[:n], int(at))
	}
	return n, err
}

func (f *file) Size() (int64, error) {
	f.dir.disk.mu.Lock()
	defer f.dir.disk.mu.Unlock()
	return int64(len(f.inode.data)), nil
}

func (f *file) Truncate(size int64) error {
	if err := f.change(Truncate); err != nil {
		return err
	}
	defer f.dir.disk.mu.Unlock()
	f.inode.resize(int(size))
	for at := range f.inode.states {
		if at >= size {
			delete(f.inode.states, at)
		}
	}
	return nil
}

func (f *file) Allocate(size int64) error {
	if err := f.change(Allocate); err != nil {
		return err
	}
	defer f.dir.disk.mu.Unlock()
	old := len(f.inode.data)
	if int(size) <= old {
		return nil
	}
	if _, err := f.dir.disk.room(int(size) - old); err != nil {
		return err
	}
	f.inode.resize(int(size))
	f.inode.touch(old, max(old+1, min(len(f.inode.safe), int(size)))) // zeros replace what was there
	return nil
}

func (f *file) Sync() error {
	if err := f.change(Sync); err != nil {
		// As in Linux: what could not be written is marked as clean, and the next sync succeeds.
		if !errors.Is(err, ErrKilled) && f.dir.enter() == nil {
			f.inode.states, f.inode.sizes = nil, nil
			f.dir.disk.mu.Unlock()
		}
		return err
	}
	defer f.dir.disk.mu.Unlock()
	f.inode.sync()
	return nil
}

func (f *file) Prefetch() {}

func (f *file) Close() error { return nil }
