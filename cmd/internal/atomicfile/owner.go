package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/gofrs/flock"
)

// Owner is a program that reads a file once and replaces it several times. Others wait in [Lock] and
// [Own] from Own to Close. Its methods are not safe for concurrent use.
type Owner struct {
	path string
	lock io.Closer // nil: the file does not exist yet
}

// Own locks the file at path as [Lock] does. A missing file is locked from the first Write on.
func Own(path string) (*Owner, error) {
	l, missing, err := lock(path)
	if err != nil {
		return nil, err
	}
	if missing {
		l = nil
	}
	return &Owner{path, l}, nil
}

// Missing reports whether the file does not exist yet.
func (o *Owner) Missing() bool { return o.lock == nil }

// Write replaces the file as the function [Write] does, and keeps it locked. If the file was missing
// and another program has made it meanwhile, the error wraps fs.ErrExist and that file stays. SIGINT,
// SIGTERM and SIGHUP do not interrupt it: a program saves its work when they arrive, and they often arrive
// twice.
func (o *Owner) Write(write func(io.Writer) error) error {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(ignored)
	return writeUntil(context.Background(), o.path, 0o666, o.rename, write)
}

// rename locks the new file before it gets its name: a program that waits for the old one must find
// the new one locked.
func (o *Owner) rename(from, to string) error {
	lock := unlocked
	if runtime.GOOS != "windows" { // a locked file cannot be renamed there
		l := flock.New(from, flock.SetFlag(os.O_RDONLY))
		if err := l.Lock(); err == nil {
			lock = l
		} else if !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("lock %s: %w", to, err)
		}
	}
	if err := o.name(from, to); err != nil {
		return errors.Join(err, lock.Close())
	}
	old := o.lock
	o.lock = lock
	if old != nil {
		return old.Close()
	}
	return nil
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
