// Package atomicfile writes files completely or not at all.
package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/interrupt"
	"golang.org/x/term"
)

// ErrInterrupted is wrapped by the error of a write that the user interrupted, and so is the [interrupt.Error]
// of the signal.
var ErrInterrupted = errors.New("interrupted")

// interrupted returns the error of a write whose context has ended.
func interrupted(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
}

// Write replaces the contents of the file at path by what write writes. It writes a new file
// in the same directory, and renames it after all bytes are on disk. On an error, SIGINT or
// SIGTERM it removes the new file. An existing file keeps its permissions, and a symbolic link
// stays one; devices and pipes are written directly. The path "-" is standard output, unless
// it is a terminal.
func Write(path string, write func(io.Writer) error) error {
	return writeMode(path, 0o666, os.Rename, write)
}

// WriteSecret is Write for contents that only the owner of the file may read: a new file has the
// permissions 0600.
func WriteSecret(path string, write func(io.Writer) error) error {
	return writeMode(path, 0o600, os.Rename, write)
}

// CreateSecret is WriteSecret, but it does not replace a file that has contents: see [CheckNew].
func CreateSecret(path string, write func(io.Writer) error) error {
	if err := CheckNew(path); err != nil {
		return err
	}
	return writeMode(path, 0o600, os.Rename, func(w io.Writer) error {
		if err := write(w); err != nil {
			return err
		}
		return CheckNew(path) // it may have been made meanwhile
	})
}

// CheckNew returns an error wrapping fs.ErrExist if path is a regular file with contents, unless it
// is standard output.
func CheckNew(path string) error {
	old, err := os.Stat(path)
	if err != nil || !old.Mode().IsRegular() || old.Size() == 0 {
		return nil // Write reports what is wrong
	}
	if out, err := os.Stdout.Stat(); err == nil && os.SameFile(old, out) {
		return nil
	}
	return fmt.Errorf("%s: %w", path, fs.ErrExist)
}

// writeMode is Write; a new file has the permissions mode, less the umask, and rename gives it its name.
func writeMode(path string, mode fs.FileMode, rename func(from, to string) error, write func(io.Writer) error) error {
	ctx, stop := interrupt.Context(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return writeUntil(ctx, path, mode, rename, write)
}

// writeUntil is writeMode; only the end of ctx interrupts it.
func writeUntil(ctx context.Context, path string, mode fs.FileMode, rename func(from, to string) error, write func(io.Writer) error) error {
	if path == "-" {
		return toStdout(write)
	}
	target, unnamed := filepath.EvalSymlinks(path)
	if unnamed == nil {
		path = target
	}
	switch old, err := os.Stat(path); {
	case err == nil && old.IsDir():
		return fmt.Errorf("%s is a directory; give a file in it", path)
	case err == nil && (unnamed != nil || !old.Mode().IsRegular()):
		// /dev/stdout may also lead to a deleted file, which has no name to replace: a
		// rename would replace the link.
		return inPlace(path, write)
	case err == nil:
		mode = old.Mode().Perm()
	}
	return replace(ctx, path, mode, rename, write)
}

// toStdout writes to standard output, unless it is a terminal.
func toStdout(write func(io.Writer) error) error {
	if term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("the output is binary and is not printed on a terminal; give a file, or a pipe behind the command")
	}
	b := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

func inPlace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = write(f)
	return errors.Join(err, f.Close())
}

func replace(ctx context.Context, path string, mode fs.FileMode, rename func(from, to string) error, write func(io.Writer) error) (err error) {
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
	b := bufio.NewWriterSize(guarded{ctx, f, path}, 1<<20)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return renamed(path, err)
	}
	if err := f.Close(); err != nil {
		return renamed(path, err)
	}
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if err := rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// create creates a new file in the directory of path. (os.CreateTemp would make it readable
// only by its owner.)
func create(path string, mode fs.FileMode) (*os.File, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s.%d-%d.tmp", path, os.Getpid(), i)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || i == 100 {
			return f, writeError(path, err)
		}
	}
}

// writeError returns the error of creating the new file, with the path that the user knows.
func writeError(path string, err error) error {
	var wrong *fs.PathError
	if errors.As(err, &wrong) && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("write %s: cannot create a file in its directory: %w", path, wrong.Err)
	}
	return renamed(path, err)
}

// renamed returns the error of the new file with the path of the file that it would have replaced.
func renamed(path string, err error) error {
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%w; nothing was written", &fs.PathError{Op: "write", Path: path, Err: wrong.Err})
	}
	return err
}

// syncDir syncs the directory, so that the new name survives a power failure.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// guarded is a writer that fails after its context is done. Its errors have the path that the user knows.
type guarded struct {
	ctx  context.Context
	f    *os.File
	path string
}

func (g guarded) Write(b []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, interrupted(g.ctx)
	}
	n, err := g.f.Write(b)
	return n, renamed(g.path, err)
}
