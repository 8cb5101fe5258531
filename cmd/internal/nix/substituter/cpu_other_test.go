//go:build !linux

package substituter_test

import "time"

// cpuTime returns 0: it is measured on Linux only.
func cpuTime() time.Duration { return 0 }
