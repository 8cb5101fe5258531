package faults

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// resident returns the bytes of memory that a process has, from Linux' /proc.
func resident(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(b)[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}
