package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve reserves size bytes of space for a file and extends it to that size. The error wraps
// errors.ErrUnsupported if the file system has no such operation.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return &os.PathError{Op: "allocate", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// syncData syncs data and size of a file, but not its times.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// prefetch makes the system read a file in the background.
func prefetch(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_WILLNEED) }
