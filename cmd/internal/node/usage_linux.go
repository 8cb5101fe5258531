package node

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// usageNow returns what the process has taken so far.
func usageNow() (u usage) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.user, u.system = time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())
		u.peak = uint64(r.Maxrss) << 10
	}
	// Pages: all, then the resident ones.
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(b); len(fields) > 1 {
			pages, _ := strconv.ParseUint(string(fields[1]), 10, 64)
			u.resident = pages * uint64(os.Getpagesize())
		}
	}
	return u
}
