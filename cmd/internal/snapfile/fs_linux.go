package snapfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// prefetch makes the system read a file in the background.
func prefetch(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_WILLNEED) }

// allocate makes room for size bytes in an empty file.
func allocate(f *os.File, size int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EOPNOTSUPP):
			return zeros(f, size)
		case err != nil:
			return &os.PathError{Op: "allocate", Path: f.Name(), Err: err}
		default:
			return nil
		}
	}
}
