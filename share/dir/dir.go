// Package dir keeps a publication in a directory. Any web server can serve the directory as it is,
// and a copy of it is a relay.
//
//	head              the record of the publication: what subscribers request first
//	objects/NAME      the objects; they never change
//	.writer/          what only the writer uses: its lock, and files that are not complete yet
//
// Names consist of lower-case letters, digits and hyphens, so the directory may be on any file
// system. All objects are in one directory: a publication has a few thousand at most
// (BenchmarkCommit measures a hundred thousand).
//
// To copy a publication while it changes, read the heads first, copy the objects, and write the heads last. What
// a copy lacks makes its subscribers late, never wrong. docs/share.md has the commands.
package dir

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

const (
	objectsName = "objects"
	writerName  = ".writer"
)

const (
	// pollInterval is the time between two looks at a record that is watched.
	pollInterval = 50 * time.Millisecond
	// watchTime is how long WatchRecord waits.
	watchTime = 30 * time.Second
)

// Source reads a directory. It changes nothing there and takes no lock. It is safe for concurrent
// use.
type Source struct{ path string }

var (
	_ share.Source  = (*Source)(nil)
	_ share.Watcher = (*Source)(nil)
)

// Open returns the source in a directory. The directory need not exist yet.
func Open(path string) *Source { return &Source{path} }

// Path returns the path of the directory.
func (s *Source) Path() string { return s.path }

func (s *Source) object(name string) string { return filepath.Join(s.path, objectsName, name) }

// Record returns a record.
func (s *Source) Record(_ context.Context, name string) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	return s.record(name)
}

func (s *Source) record(name string) ([]byte, error) {
	f, err := openFile(filepath.Join(s.path, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, share.MaxRecord+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > share.MaxRecord:
		return nil, sentinel.Errorf(share.ErrCorrupt, "%s has more than %d bytes", f.Name(), share.MaxRecord)
	}
	return b, nil
}

// Object returns the bytes of an object from the offset on. The result is an *os.File.
func (s *Source) Object(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := share.CheckObject(name); err != nil {
		return nil, err
	}
	f, err := openFile(s.object(name))
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openFile opens a regular file for reading.
func openFile(path string) (*os.File, error) {
	if err := checkRegular(os.Stat(path)); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	return f, describe(err)
}

// checkRegular refuses what is not a regular file: to open a pipe would block.
func checkRegular(info fs.FileInfo, err error) error {
	if err != nil {
		return describe(err)
	}
	if !info.Mode().IsRegular() {
		return sentinel.Errorf(share.ErrCorrupt, "%s is not a regular file", info.Name())
	}
	return nil
}

// describe adds the package, and share.ErrNotFound if there is no such file, to an error of the operating system.
func describe(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return notFound{err}
	}
	return err
}

// notFound is an error of the operating system that is share.ErrNotFound, too. Its text has the cause once.
type notFound struct{ error }

func (e notFound) Unwrap() []error { return []error{e.error, share.ErrNotFound} }

// WatchRecord returns a record when it differs from last, and as it is after 30 seconds. It looks at
// the time of the file every 50 milliseconds.
func (s *Source) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	end := time.Now().Add(watchTime)
	var seen fs.FileInfo
	for {
		info, err := os.Stat(filepath.Join(s.path, name))
		if err != nil {
			return nil, describe(err)
		}
		// Two files in the same clock tick may look the same, so the end is a reason to read, too.
		over := !time.Now().Before(end)
		if over || seen == nil || !sameFile(info, seen) {
			b, err := s.record(name)
			if err != nil || over || !bytes.Equal(b, last) {
				return b, err
			}
			seen = info
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
