package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
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

// processorTime returns the time that a process has had of the processors, its own and the
// system's for it, in steps of Linux' clock, 10 ms.
func processorTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may have blanks in it: the state follows, and utime and stime are
	// 11 and 12 fields behind that.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("the status of process %d is %q", pid, b)
	}
	user, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * (10 * time.Millisecond), errors.Join(err1, err2)
}
