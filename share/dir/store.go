package dir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"
	"github.com/umbel-filters/umbel/share"
)

// Store reads and writes a directory. It is safe for concurrent use. Only one store at a time is
// open on a directory.
//
// A crash leaves each file complete or absent, and the record refers to complete objects. If the disk
// is full, methods fail and the publication remains as it was. Errors name what is written, not temporary files.
//
// After Close, the methods that write, those of uploads included, change nothing and return an error that wraps
// fs.ErrClosed, since another store may be open on the directory. Reading goes on: it needs no lock.
type Store struct {
	*Source
	lock    *flock.Flock
	created bool // Create made the directory
	writes  writes
	close   func() error // once
	records sync.Mutex
	// renamed reports that objects were committed after their directory was last synced.
	renamed atomic.Bool
}

var _ share.Store = (*Store)(nil)

// Create opens the store in a directory, and makes the directory if it does not exist. It removes
// what an interrupted writer left. The error wraps ErrLocked if another store is open on the
// directory. The caller closes the store.
func Create(path string) (*Store, error) {
	_, err := os.Lstat(path)
	created := errors.Is(err, fs.ErrNotExist)
	for _, d := range []string{objectsName, writerName} {
		if err := makeAll(filepath.Join(path, d)); err != nil {
			return nil, err
		}
	}
	l, err := lock(path)
	if err != nil {
		return nil, err
	}
	s := &Store{Source: Open(path), lock: l, created: created}
	s.close = sync.OnceValue(s.unlock)
	if err := s.removeTemporary(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close unlocks the directory, and removes it if Create made it and nothing was written to it. It waits for writes that
// have begun, and removes what uploads have written that are not committed. To call it again has no effect.
func (s *Store) Close() error { return s.close() }

// unlock is the first Close.
func (s *Store) unlock() error {
	s.writes.end()
	_ = s.removeTemporary() // the next store removes what is left
	if s.created {
		s.removeEmpty()
	}
	return s.lock.Close()
}

// begin begins a write. The caller calls writes.running.Done after it, unless there is an error.
func (s *Store) begin() error {
	if !s.writes.begin() {
		return closedError{s.path}
	}
	return nil
}

// removeEmpty removes the directory if it has nothing but the lock. What cannot be removed remains.
func (s *Store) removeEmpty() {
	if all, err := os.ReadDir(s.path); err != nil || len(all) != 2 {
		return
	}
	if os.Remove(filepath.Join(s.path, objectsName)) != nil {
		return
	}
	for _, name := range []string{filepath.Join(writerName, lockName), writerName, ""} {
		if os.Remove(filepath.Join(s.path, name)) != nil {
			return
		}
	}
}

// makeAll makes a directory that is durable, and those above it.
func makeAll(path string) error {
	err := os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeAll(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o777)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// removeTemporary removes the files that an interrupted writer, or an upload that was not closed, left.
func (s *Store) removeTemporary() error {
	left, err := filepath.Glob(filepath.Join(s.path, writerName, temporaryPattern))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// PutRecord replaces a record, as a whole or not at all, when all objects are durable.
func (s *Store) PutRecord(ctx context.Context, name string, data []byte) error {
	if err := share.CheckRecord(name); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.writes.running.Done()
	s.records.Lock()
	defer s.records.Unlock()
	if s.renamed.Swap(false) {
		if err := syncDirectory(filepath.Join(s.path, objectsName)); err != nil {
			s.renamed.Store(true)
			return err
		}
	}
	path := filepath.Join(s.path, name)
	u, err := s.newUpload(path)
	if err != nil {
		return err
	}
	defer u.remove()
	if _, err := u.write(data); err != nil {
		return err
	}
	if err := u.moveTo(ctx, path); err != nil {
		return err
	}
	return syncDirectory(s.path)
}

// NewObject begins an object. The result holds an open file until it is closed.
func (s *Store) NewObject(context.Context) (share.Upload, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.writes.running.Done()
	return s.newUpload(filepath.Join(s.path, objectsName))
}

// objectsAtOnce is the number of names that Objects reads at once.
const objectsAtOnce = 1024

// Objects yields the names of all objects. Other files in their directory are ignored.
func (s *Store) Objects(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		d, err := os.Open(filepath.Join(s.path, objectsName))
		if err != nil {
			yield("", describe(err))
			return
		}
		defer d.Close()
		for {
			names, err := d.Readdirnames(objectsAtOnce)
			for _, n := range names {
				if share.CheckObject(n) == nil && !yield(n, nil) {
					return
				}
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				if err != io.EOF {
					yield("", err)
				}
				return
			}
		}
	}
}

// Remove removes an object.
func (s *Store) Remove(_ context.Context, name string) error {
	if err := share.CheckObject(name); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.writes.running.Done()
	if err := os.Remove(s.object(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
