// Package atomicfile writes files whole or not at all.
package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// ErrInterrupted is the error of a write that the user broke off.
var ErrInterrupted = errors.New("interrupted")

// Write makes the file at path hold what write writes. Until all of it is on disk
// the file is as it was: the bytes go to a new file beside it, which then takes its
// name. On an error, an interrupt or a request to terminate, the new file is
// removed. An existing file keeps its permissions, a symbolic link its place; a
// device or a pipe is written to as it is. A file named - is taken for a mistake.
func Write(path string, write func(io.Writer) error) error {
	if path == "-" {
		return errors.New("- names a file here: write /dev/stdout for standard output, or ./- for the file")
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o666)
	switch old, err := os.Stat(path); {
	case err == nil && old.IsDir():
		return fmt.Errorf("%s is a directory: name a file in it", path)
	case err == nil && !old.Mode().IsRegular():
		return inPlace(path, write)
	case err == nil:
		mode = old.Mode().Perm()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return replace(ctx, path, mode, write)
}

func inPlace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = write(f)
	return errors.Join(err, f.Close())
}

func replace(ctx context.Context, path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := create(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(guarded{ctx, f}, 1<<20)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// create makes a new file beside path. (os.CreateTemp would leave it readable by
// its owner only.)
func create(path string, mode fs.FileMode) (*os.File, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s.%d-%d.tmp", path, os.Getpid(), i)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || i == 100 {
			return f, beside(path, err)
		}
	}
}

// beside tells why there is no new file beside path, by the name that the user knows.
func beside(path string, err error) error {
	var wrong *fs.PathError
	switch {
	case !errors.As(err, &wrong):
		return err
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("write %s: no file can be made in its directory: %w", path, wrong.Err)
	}
	return &fs.PathError{Op: "write", Path: path, Err: wrong.Err}
}

// syncDir makes the new name last through a power cut, where the system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// guarded is a writer that fails once its context is over.
type guarded struct {
	ctx context.Context
	w   io.Writer
}

func (g guarded) Write(b []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, ErrInterrupted
	}
	return g.w.Write(b)
}
