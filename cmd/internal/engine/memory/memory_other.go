//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package memory

func available() (uint64, bool) { return 0, false }

func most() (uint64, bool) { return 0, false }
