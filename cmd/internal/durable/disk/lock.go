package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lockName is the file that is locked. Its text is the number of the process that has it.
const lockName = "LOCK"

type directoryLock struct {
	*flock.Flock
	shared bool
}

// lockDirectory locks a directory by a file in it. A shared lock changes nothing in the directory,
// and locks nothing if no process ever opened the directory for writing. The error wraps ErrLocked.
func lockDirectory(dir string, shared bool) (io.Closer, error) {
	path := filepath.Join(dir, lockName)
	var l *flock.Flock
	var locked bool
	var err error
	if shared {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return io.NopCloser(nil), nil
		}
		l = flock.New(path, flock.SetFlag(os.O_RDONLY))
		locked, err = l.TryRLock()
	} else {
		l = flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		locked, err = l.TryLock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if !locked {
		return nil, fmt.Errorf("%w: %s is used by %s: stop it, or use another directory", ErrLocked, dir, holder(path))
	}
	if !shared {
		// Only for error messages; it is not an error if this fails.
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	}
	return &directoryLock{l, shared}, nil
}

// holder names the process that has a lock.
func holder(path string) string {
	if b, err := os.ReadFile(path); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			return fmt.Sprintf("process %d", pid)
		}
	}
	return "another process"
}

// Close unlocks the directory. It does not remove the file: two processes could then lock two
// files of the same name.
func (l *directoryLock) Close() error {
	if !l.shared {
		_ = os.Truncate(l.Path(), 0)
	}
	return l.Flock.Close()
}
