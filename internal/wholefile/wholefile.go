// Package wholefile writes files completely or not at all, and locks them for programs that replace them.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Target is the file that a path names.
type Target struct {
	Path string
	Mode fs.FileMode // its permissions, or those of the file that will be made
	// InPlace reports that the file cannot be replaced by one with its name: it is a device, a pipe, or an open file
	// that was deleted, to which /dev/stdout may lead.
	InPlace bool
}

// Find returns the file that path names. A symbolic link names the file to which it leads, which need not exist. A
// file that does not exist will have the permissions mode, less the umask. It is an error if path is a directory.
func Find(path string, mode fs.FileMode) (Target, error) {
	named, unnamed := filepath.EvalSymlinks(path)
	if unnamed == nil {
		path = named
	}
	switch old, err := os.Stat(path); {
	case err == nil && old.IsDir():
		return Target{}, fmt.Errorf("%s is a directory; give a file in it", path)
	case err == nil && (unnamed != nil || !old.Mode().IsRegular()):
		return Target{path, old.Mode(), true}, nil
	case err == nil:
		mode = old.Mode().Perm()
	case errors.Is(err, fs.ErrNotExist):
		path = follow(path)
	}
	return Target{Path: path, Mode: mode}, nil
}

// maxLinks is the number of symbolic links that follow follows.
const maxLinks = 40

// follow returns the path to which a symbolic link leads, and any other path itself.
func follow(path string) string {
	for range maxLinks {
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return path
}

// Replace makes a new file in the directory of path, which write writes without a buffer, and gives it the name path after
// all bytes are on the disk. On an error before that it removes the new file, and a file with that name stays. Errors have
// the path instead of the name of the new file.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	l, err := replace(path, mode, os.Rename, write)
	if l != nil {
		err = errors.Join(err, l.Close())
	}
	return err
}

// replace is Replace, where rename gives the new file its name. If the file has it, replace returns the lock of the file,
// which no other program can have acquired before.
func replace(path string, mode fs.FileMode, rename func(from, to string) error, write func(io.Writer) error) (io.Closer, error) {
	f, err := create(path, mode)
	if err != nil {
		return nil, err
	}
	l, err := lockNew(f.Name())
	if err == nil {
		err = write(named{f, path})
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		l.Close()
		return nil, renamed(path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return l, fmt.Errorf("%s is written, but may have its old contents after a power failure: %w", path, err)
	}
	return l, nil
}

// syncDir makes it durable which files a directory has, if the operating system and the file system can do that.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // files can be made in a directory that cannot be read
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// create creates a new file in the directory of path. (os.CreateTemp would make it readable
// only by its owner.)
func create(path string, mode fs.FileMode) (*os.File, error) {
	for i := 0; ; i++ {
		f, err := os.OpenFile(fmt.Sprintf("%s.%d-%d%s", path, os.Getpid(), i, suffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || i == 100 {
			return f, createError(path, err)
		}
	}
}

// suffix ends the names of new files.
const suffix = ".tmp"

// isTemporary reports whether name is one that create chooses for a new file of path.
func isTemporary(name, path string) bool {
	id, is := strings.CutPrefix(name, path+".")
	id, ends := strings.CutSuffix(id, suffix)
	pid, number, cut := strings.Cut(id, "-")
	for _, digits := range []string{pid, number} {
		if _, err := strconv.ParseUint(digits, 10, 63); err != nil {
			return false
		}
	}
	return is && ends && cut
}

// createError returns the error of creating the new file, with the path that the user knows.
func createError(path string, err error) error {
	var wrong *fs.PathError
	if errors.As(err, &wrong) && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("write %s: cannot create a file in its directory: %w", path, wrong.Err)
	}
	return renamed(path, err)
}

// renamed returns the error of the new file with the path of the file that it would have replaced.
func renamed(path string, err error) error {
	var wrong *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &wrong):
		err = wrong.Err
	case errors.As(err, &link):
		err = link.Err
	default:
		return err
	}
	return fmt.Errorf("%w; nothing was written", &fs.PathError{Op: "write", Path: path, Err: err})
}

// named is a file whose errors have another path.
type named struct {
	f    *os.File
	path string
}

func (n named) Write(b []byte) (int, error) {
	written, err := n.f.Write(b)
	return written, renamed(n.path, err)
}
