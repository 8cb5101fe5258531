package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// ErrLocked is wrapped by the error of Create if another store is open on the directory.
var ErrLocked = errors.New("directory in use")

const lockName = "lock"

// lock locks a directory until the result is closed. A process that removes the file of the lock has locked it; one
// that has waited for that file must not go on with it, since two processes could lock two files of one name.
func lock(path string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(path, writerName, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	locked, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if locked && !isFile(l) {
		l.Close()
		locked = false
	}
	if !locked {
		return nil, fmt.Errorf("another publisher or subscriber uses %s: stop it, or use another directory: %w", path, ErrLocked)
	}
	return l, nil
}

// isFile reports whether the path of a lock is that of the locked file.
func isFile(l *flock.Flock) bool {
	open, err := l.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(l.Path())
	return err == nil && os.SameFile(open, named)
}

// writes are the changes of a directory that its lock permits. The mutex is not held while they wait for the disk.
type writes struct {
	mu      sync.Mutex
	ended   bool
	running sync.WaitGroup
}

// begin begins a change, and reports whether it may be made. Then the caller calls running.Done after it.
func (w *writes) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.running.Add(1)
	}
	return !w.ended
}

// end permits no more changes, and waits for those that have begun.
func (w *writes) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.running.Wait()
}

// closedError is the error of a write to a store that is closed. It is fs.ErrClosed, whose text speaks of a file.
type closedError struct{ path string }

func (e closedError) Error() string { return "the store of " + e.path + " is closed" }
func (e closedError) Unwrap() error { return fs.ErrClosed }
