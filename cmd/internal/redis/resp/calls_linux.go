//go:build !race

package resp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// These calls of the system do not wait. Go's scheduler need not be informed of them: it would wake its
// monitor for many of them, which takes more processor time than the commands.

// receiveNow reads into b, which is not empty. Unlike read, recvfrom does not go through the file system's layer
// of the kernel.
func receiveNow(fd int, b []byte) (int, unix.Errno) {
	n, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), err
}

// sendNow writes from b, which is not empty.
func sendNow(fd int, b []byte) (int, unix.Errno) {
	n, _, err := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), err
}
