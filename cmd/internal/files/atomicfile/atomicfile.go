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
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/service/interrupt"
	"github.com/umbel-filters/umbel/internal/wholefile"
	"golang.org/x/term"
)

// ErrInterrupted is wrapped by the error of a write that the user interrupted, and so is the [interrupt.Error]
// of the signal.
var ErrInterrupted = errors.New("interrupted")

// interrupted returns the error of a write whose context has ended.
func interrupted(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
}

// Write replaces the contents of the file at path by those that write writes. It writes a new file
// in the same directory, and renames it after all bytes are on disk. On an error, SIGINT or
// SIGTERM it removes the new file. An existing file keeps its permissions, and a symbolic link
// stays one; devices and pipes are written directly. The path "-" is standard output, unless
// it is a terminal.
func Write(path string, write func(io.Writer) error) error {
	return writeMode(path, 0o666, wholefile.Replace, write)
}

// WriteSecret is Write for contents that only the owner of the file may read: a new file has the
// permissions 0600.
func WriteSecret(path string, write func(io.Writer) error) error {
	return writeMode(path, 0o600, wholefile.Replace, write)
}

// CreateSecret is WriteSecret, but it does not replace a file that has contents: see [CheckNew].
func CreateSecret(path string, write func(io.Writer) error) error {
	if err := CheckNew(path); err != nil {
		return err
	}
	return writeMode(path, 0o600, wholefile.Replace, func(w io.Writer) error {
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

// replacer is wholefile.Replace, or that of an owner, to whom the path is known.
type replacer func(path string, mode fs.FileMode, write func(io.Writer) error) error

// writeMode is Write; a new file has the permissions mode, less the umask.
func writeMode(path string, mode fs.FileMode, replace replacer, write func(io.Writer) error) error {
	ctx, stop := interrupt.Context(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return writeUntil(ctx, path, mode, replace, write)
}

// writeUntil is writeMode; only the end of ctx interrupts it.
func writeUntil(ctx context.Context, path string, mode fs.FileMode, replace replacer, write func(io.Writer) error) error {
	if path == "-" {
		return toStdout(write)
	}
	target, err := wholefile.Find(path, mode)
	if err != nil {
		return err
	}
	if target.InPlace { // a rename would replace the link to /dev/stdout
		return inPlace(target.Path, write)
	}
	return replace(target.Path, target.Mode, func(w io.Writer) error {
		b := bufio.NewWriterSize(guarded{ctx, w}, 1<<20)
		if err := write(b); err != nil {
			return err
		}
		if err := b.Flush(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		return nil
	})
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

// guarded is a writer that fails after its context is done.
type guarded struct {
	ctx context.Context
	w   io.Writer
}

func (g guarded) Write(b []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, interrupted(g.ctx)
	}
	return g.w.Write(b)
}
