package filtertest

import (
	"runtime"
	"testing"
)

// wantNoAllocation fails if f allocates.
func wantNoAllocation(t tb, what string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(50, f); n != 0 {
		t.Errorf("%s allocates %g times a call, want 0", what, n)
	}
}

// allocated returns the bytes that f allocated, with those of goroutines beside it.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// panicked returns what f panicked with, nil if it didn't.
func panicked(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
