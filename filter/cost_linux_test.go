package filter_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// TestCostPerByte: a description, a copy, a message and a change of a whole filter take at most 250 ns of processor time
// per byte, in every kind and also if the number of groups has many divisors, as after an Unfold. The bound is about
// five times what the slowest of them takes on a busy machine; a walk for each divisor took 2400 ns.
func TestCostPerByte(t *testing.T) {
	const perByte, fixed = 250 * time.Nanosecond, 20 * time.Millisecond
	for _, k := range filter.All {
		for _, unfold := range []uint64{1, 720, 2520} {
			for what, do := range wholes(k) {
				f := unfoldedOf(t, k, unfold)
				if f == nil {
					break
				}
				bytes := max(f.State().Bytes(), 1<<10)
				used := processorTime(t, func() { do(f) })
				if bytes = max(bytes, f.State().Bytes()); used > fixed+time.Duration(bytes)*perByte {
					t.Errorf("%s of kind %s with %d bytes, unfolded by %d, takes %v, want at most %v per byte", what, k.Name, bytes, unfold, used, perByte)
				}
			}
		}
	}
}

// unfoldedOf returns a filter of 3000 keys that was unfolded, or nil if the kind does not unfold.
func unfoldedOf(t *testing.T, k umbel.Kind, factor uint64) umbel.Filter {
	t.Helper()
	f, err := k.New(umbel.Goal{Keys: 3000, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddAll(f, nil, fixture.Digests(1, 3000))
	if factor == 1 {
		return f
	}
	if folder, ok := f.(umbel.Folder); !ok || folder.Unfold(factor) != nil {
		return nil
	}
	return f
}

// wholes are operations on a whole filter of a kind.
func wholes(k umbel.Kind) map[string]func(umbel.Filter) {
	return map[string]func(umbel.Filter){
		"Stats": func(f umbel.Filter) { f.Stats() },
		"a copy": func(f umbel.Filter) {
			_, _ = k.Open(f.State().Clone())
		},
		"a container": func(f umbel.Filter) { _, _ = wire.Append(nil, f.State()) },
		"an ID":       func(f umbel.Filter) { hashtree.Identify(f.State()) },
		"additions":   func(f umbel.Filter) { umbel.AddAll(f, nil, fixture.Digests(2, 1000)) },
		"Merge": func(f umbel.Filter) {
			if m, ok := f.(umbel.Merger); ok {
				_ = m.Merge(f.State().Clone())
			}
		},
		"Fold": func(f umbel.Filter) {
			if m, ok := f.(umbel.Folder); ok {
				_ = m.Fold(2)
			}
		},
		"Clear": func(f umbel.Filter) {
			if c, ok := f.(umbel.Clearer); ok {
				c.Clear()
			}
		},
	}
}

// processorTime returns the processor time that f takes in this goroutine, which the load of the machine hardly changes.
func processorTime(t *testing.T, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		const thread = 1 // RUSAGE_THREAD of Linux
		var u syscall.Rusage
		if err := syscall.Getrusage(thread, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}
