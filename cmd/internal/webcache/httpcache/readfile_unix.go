//go:build unix

package httpcache

import (
	"io"
	"syscall"
)

// readFile reads the beginning of a file. An os.File would cost two more calls of the system and a finalizer.
func readFile(path string, p []byte) error {
	fd, err := retry(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	for n := 0; n < len(p); {
		m, err := retry(func() (int, error) { return syscall.Pread(fd, p[n:], int64(n)) })
		if err != nil {
			return err
		}
		if m == 0 {
			return io.ErrUnexpectedEOF
		}
		n += m
	}
	return nil
}

// retry repeats a call that a signal has interrupted.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != syscall.EINTR {
			return n, err
		}
	}
}
