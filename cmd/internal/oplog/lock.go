package oplog

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// directoryLock keeps other processes from a directory. JetStream has none of its own: two
// servers open the same files without a word.
type directoryLock struct{ *flock.Flock }

// lockDirectory locks a directory by a file in it, which says who has it. The error wraps
// ErrLocked.
func lockDirectory(dir string) (*directoryLock, error) {
	path := filepath.Join(dir, "LOCK")
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if !ok {
		by := "another process"
		if b, err := os.ReadFile(path); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				by = fmt.Sprintf("process %d", pid)
			}
		}
		return nil, fmt.Errorf("%w: %s is used by %s: stop that, or use another directory", ErrLocked, dir, by)
	}
	// For people, so that who has it can be found; nothing rests on it.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return &directoryLock{l}, nil
}

// release leaves the file: removing it would let two processes lock two files of one name.
func (l *directoryLock) release() error {
	_ = os.Truncate(l.Path(), 0)
	return l.Close()
}
