package resp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// eventsNow returns the number of events that have happened.
func eventsNow(fd int, events []unix.EpollEvent) (int, unix.Errno) {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	return int(n), err
}
