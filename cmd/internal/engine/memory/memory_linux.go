package memory

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// available returns the estimate of the kernel, or what is left to the process's control group
// if that is less.
func available() (uint64, bool) {
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	free, ok := field(meminfo, "MemAvailable:")
	if !ok {
		return 0, false
	}
	free *= 1024
	if room, ok := groupRoom(); ok {
		free = min(free, room)
	}
	return free, true
}

// most returns the installed memory and swap, or the limit of the process's control group if
// that is less.
func most() (uint64, bool) {
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	total, ok := field(meminfo, "MemTotal:")
	swap, _ := field(meminfo, "SwapTotal:")
	total = (total + swap) * 1024
	if limit, limited := number("/sys/fs/cgroup/memory.max"); limited {
		total = min(total, limit)
	}
	return total, ok
}

// groupRoom returns the limit of the control group (version 2, as mounted in a container) minus
// its memory that can't be reclaimed.
func groupRoom() (uint64, bool) {
	limit, ok := number("/sys/fs/cgroup/memory.max")
	if !ok {
		return 0, false
	}
	used, ok := number("/sys/fs/cgroup/memory.current")
	if !ok {
		return 0, false
	}
	if stat, err := os.ReadFile("/sys/fs/cgroup/memory.stat"); err == nil {
		cache, _ := field(stat, "inactive_file")
		used -= min(used, cache)
	}
	return limit - min(limit, used), true
}

// number reads a file with one number; "max" is no limit.
func number(path string) (uint64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// field returns the number after a name at the beginning of a line.
func field(text []byte, name string) (uint64, bool) {
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if words := strings.Fields(s.Text()); len(words) >= 2 && words[0] == name {
			n, err := strconv.ParseUint(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
