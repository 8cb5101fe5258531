package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// resident returns the bytes of memory that a process has now; peakResident the most it ever
// had. They read Linux' /proc.
func resident(pid int) (int64, error)     { return status(pid, "VmRSS:") }
func peakResident(pid int) (int64, error) { return status(pid, "VmHWM:") }

func status(pid int, field string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			kib, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in the status of process %d", field, pid)
}
