package dir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrLocked is wrapped by the error of Create if another store is open on the directory.
var ErrLocked = errors.New("directory in use")

const lockName = "lock"

// lock locks a directory until the result is closed. The file of the lock remains: if it were
// removed, two processes could lock two files of the same name.
func lock(path string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(path, writerName, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	locked, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("share/dir: lock %s: %w", path, err)
	}
	if !locked {
		return nil, fmt.Errorf("share/dir: another publisher or subscriber uses %s: stop it, or use another directory: %w", path, ErrLocked)
	}
	return l, nil
}
