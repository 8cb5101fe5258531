package processor

import "syscall"

func detect() (Features, int) {
	l2, err := syscall.SysctlUint32("hw.l2cachesize")
	if err != nil {
		return 0, 0
	}
	return 0, int(l2)
}
