package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// ErrLocked is wrapped by the error of TryOwn if another program owns the file.
var ErrLocked = errors.New("file in use")

// unlocked unlocks nothing.
var unlocked io.Closer = io.NopCloser(nil)

// Lock locks the file at path for a program that reads it, changes it and replaces it with [Replace].
// It waits while another program has the lock, and returns what unlocks. Read the file after it
// returns. A missing file, a device and a pipe are not locked, and neither is anything if the
// operating system or the file system has no advisory locks, as Windows.
func Lock(path string) (io.Closer, error) {
	l, _, err := lock(path, true)
	return l, err
}

// lock is Lock, and reports whether the file is missing. Unless it may wait, its error wraps ErrLocked if another program
// has the lock.
func lock(path string, wait bool) (l io.Closer, missing bool, err error) {
	for {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" {
			return unlocked, errors.Is(err, fs.ErrNotExist), nil // reading the file reports what is wrong
		}
		l := flock.New(path, flock.SetFlag(os.O_RDONLY))
		locked := true
		if wait {
			err = l.Lock()
		} else {
			locked, err = l.TryLock()
		}
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return unlocked, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		case !locked:
			return nil, false, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		// The process that had the lock may have replaced the file.
		open, err := l.Stat()
		if now, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(open, now) {
			return l, false, nil
		}
		if err := l.Close(); err != nil {
			return nil, false, fmt.Errorf("unlock %s: %w", path, err)
		}
	}
}

// lockNew locks a file that this program has made. A locked file cannot be renamed on Windows.
func lockNew(path string) (io.Closer, error) {
	if runtime.GOOS == "windows" {
		return unlocked, nil
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if err := l.Lock(); errors.Is(err, errors.ErrUnsupported) {
		return unlocked, nil
	} else if err != nil {
		return unlocked, fmt.Errorf("lock %s: %w", path, err)
	}
	return l, nil
}

// Owner is a program that reads a file once and replaces it several times. Others wait in [Lock] and
// [Own] from Own to Close. Its methods are not safe for concurrent use.
type Owner struct {
	lock io.Closer // nil: the file does not exist yet
}

// Own locks the file at path as [Lock] does. A missing file is locked from the first Replace on.
func Own(path string) (*Owner, error) { return own(path, true) }

// TryOwn is Own, but does not wait: the error wraps ErrLocked if another program has the file. It removes what programs
// left that ended while they replaced the file.
func TryOwn(path string) (*Owner, error) {
	o, err := own(path, false)
	if err == nil && !o.Missing() {
		removeLeft(path)
	}
	return o, err
}

func own(path string, wait bool) (*Owner, error) {
	l, missing, err := lock(path, wait)
	if err != nil {
		return nil, err
	}
	if missing {
		l = nil
	}
	return &Owner{l}, nil
}

// removeLeft removes new files of path that no program is writing: a program has the lock of its file.
func removeLeft(path string) {
	if runtime.GOOS == "windows" {
		return
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, n := range names {
		if !n.Type().IsRegular() || !isTemporary(n.Name(), filepath.Base(path)) {
			continue
		}
		name := filepath.Join(filepath.Dir(path), n.Name())
		l := flock.New(name, flock.SetFlag(os.O_RDONLY))
		if locked, err := l.TryLock(); locked && err == nil {
			os.Remove(name)
		}
		l.Close()
	}
}

// Missing reports whether the file does not exist yet.
func (o *Owner) Missing() bool { return o.lock == nil }

// Replace is the function [Replace] for the owner's file or the one to which it is a link, and the file stays locked. If
// it was missing and another program has made it meanwhile, the error wraps fs.ErrExist and that file stays.
func (o *Owner) Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	l, err := replace(path, mode, o.name, write)
	if l == nil {
		return err
	}
	old := o.lock
	o.lock = l
	if old != nil {
		err = errors.Join(err, old.Close())
	}
	return err
}

// name renames the new file. A rename replaces a file that another program has made meanwhile, and a
// link does not.
func (o *Owner) name(from, to string) error {
	if o.lock == nil {
		switch err := os.Link(from, to); {
		case err == nil:
			return os.Remove(from)
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%s was made by another program meanwhile: %w", to, fs.ErrExist)
		}
	}
	return os.Rename(from, to) // also if the file system has no links
}

// Close unlocks the file.
func (o *Owner) Close() error {
	if o.lock == nil {
		return nil
	}
	return o.lock.Close()
}
