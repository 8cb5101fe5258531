package dir

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// temporaryPattern is the pattern of the names of files that are not complete.
const temporaryPattern = "new-*"

// upload is a file that is not complete yet.
type upload struct {
	s      *Store
	f      *os.File
	target string // what its errors name: the record, or the directory of an object, which has no name yet
}

// newUpload makes a file. It is readable by everybody that the umask permits, unlike the files of
// os.CreateTemp, so that a web server can read it.
func (s *Store) newUpload(target string) (*upload, error) {
	directory := filepath.Join(s.path, writerName)
	f, err := os.OpenFile(filepath.Join(directory, "new-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, failure(err, directory)
	}
	return &upload{s, f, target}, nil
}

// failure returns the error of a temporary file with the name of what is written instead of the temporary one,
// so that the same fault has the same text.
func failure(err error, target string) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *fs.PathError:
		err = &fs.PathError{Op: e.Op, Path: target, Err: e.Err}
	case *os.LinkError:
		err = &fs.PathError{Op: e.Op, Path: target, Err: e.Err}
	}
	return err
}

func (u *upload) Write(b []byte) (int, error) {
	if err := u.s.begin(); err != nil {
		return 0, err
	}
	defer u.s.writes.running.Done()
	return u.write(b)
}

func (u *upload) write(b []byte) (int, error) {
	n, err := u.f.Write(b)
	return n, failure(err, u.target)
}

// Commit makes the object readable under its name. It is durable after the next PutRecord.
func (u *upload) Commit(ctx context.Context, name string) error {
	if err := share.CheckObject(name); err != nil {
		return err
	}
	if err := u.s.begin(); err != nil {
		return err
	}
	defer u.s.writes.running.Done()
	if err := u.moveTo(ctx, u.s.object(name)); err != nil {
		return err
	}
	u.s.renamed.Store(true)
	return nil
}

// moveTo makes the file durable and moves it to a path.
func (u *upload) moveTo(ctx context.Context, path string) error {
	if u.f == nil {
		return errors.New("the upload is closed")
	}
	err := ctx.Err()
	if err == nil {
		err = u.f.Sync()
	}
	if err == nil {
		err = u.f.Close()
	}
	if err == nil {
		err = rename(ctx, u.f.Name(), path)
	}
	if err != nil {
		return failure(err, path)
	}
	u.f = nil
	return nil
}

// Close removes the file, unless it was moved, or the store was closed, which removes it.
func (u *upload) Close() error {
	if u.f == nil {
		return nil
	}
	if u.s.begin() != nil {
		u.f.Close() // It may be closed already.
		u.f = nil
		return nil
	}
	defer u.s.writes.running.Done()
	return u.remove()
}

// remove removes the file, unless it was moved.
func (u *upload) remove() error {
	if u.f == nil {
		return nil
	}
	u.f.Close() // It may be closed already.
	err := os.Remove(u.f.Name())
	u.f = nil
	return failure(err, u.target)
}

// renameTime is how long rename waits on Windows for readers of the old file.
const renameTime = 2 * time.Second

// rename replaces a file. Windows refuses that while another process reads it.
func rename(ctx context.Context, from, to string) error {
	err := os.Rename(from, to)
	if runtime.GOOS != "windows" {
		return err
	}
	for end := time.Now().Add(renameTime); err != nil && ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		err = os.Rename(from, to)
	}
	return err
}

// syncDirectory makes durable which files a directory contains.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which cannot sync directories
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
