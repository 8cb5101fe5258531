//go:build linux || darwin

package disk

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// free returns the number of bytes that files of unprivileged users can still take on a file system.
func free(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return int64(min(s.Bavail, math.MaxInt64/uint64(s.Bsize)) * uint64(s.Bsize)), nil
}
