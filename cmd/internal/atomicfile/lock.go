package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// unlocked unlocks nothing.
var unlocked io.Closer = io.NopCloser(nil)

// Lock locks the file at path for a program that reads it, changes it and replaces it with [Write].
// It waits while another program has the lock, and returns what unlocks. Read the file after it
// returns. A missing file, a device and a pipe are not locked, and neither is anything if the
// operating system or the file system has no advisory locks, as Windows.
func Lock(path string) (io.Closer, error) {
	l, _, err := lock(path)
	return l, err
}

// lock is Lock, and reports whether the file is missing.
func lock(path string) (l io.Closer, missing bool, err error) {
	for {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" {
			return unlocked, errors.Is(err, fs.ErrNotExist), nil // reading the file reports what is wrong
		}
		l := flock.New(path, flock.SetFlag(os.O_RDONLY))
		if err := l.Lock(); errors.Is(err, errors.ErrUnsupported) {
			return unlocked, false, nil
		} else if err != nil {
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
		// The process that had the lock may have replaced the file.
		locked, err := l.Stat()
		if now, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(locked, now) {
			return l, false, nil
		}
		if err := l.Close(); err != nil {
			return nil, false, fmt.Errorf("unlock %s: %w", path, err)
		}
	}
}
