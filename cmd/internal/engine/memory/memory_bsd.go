//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package memory

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func available() (uint64, bool) { return most() }

// most returns the installed memory.
func most() (uint64, bool) {
	name := "hw.physmem64"
	switch runtime.GOOS {
	case "darwin":
		name = "hw.memsize"
	case "freebsd", "dragonfly":
		name = "hw.physmem"
	}
	n, err := unix.SysctlUint64(name)
	return n, err == nil
}
