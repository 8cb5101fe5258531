// Package filling adds digests to a filter from several goroutines, as fast as its kind can.
package filling

import (
	"fmt"
	"sync"

	"github.com/umbel-filters/umbel"
)

// growing is a filter that grows, or rejects keys.
type growing interface {
	umbel.Filter
	umbel.Grower
}

// grower returns f if it manages its own capacity. A filter with a clock doesn't: all keys of
// one run have the same age, and its capacity is for the keys of a period.
func grower(f umbel.Filter) (growing, bool) {
	g, ok := f.(growing)
	_, clock := f.(umbel.Advancer)
	return g, ok && !clock
}

// Grows reports whether f manages its own capacity: whether it grows, or rejects keys.
func Grows(f umbel.Filter) bool {
	_, ok := grower(f)
	return ok
}

// Filler returns a function that adds digests to f, safe for use by that many goroutines, while nobody reads f. The function
// flush adds what add has collected. A large filter is filled by an [umbel.Loader] with at most spare bytes of memory. A filter that
// manages its own capacity gets the planned number of keys unconditionally, and others until it rejects one: the error is
// that of TryAdd.
func Filler(f umbel.Filter, workers int, planned, spare uint64) (add func([]umbel.Digest) error, flush func()) {
	if g, ok := grower(f); ok {
		return admit(g, planned), func() {}
	}
	if b, ok := f.(umbel.BulkAdder); ok && spare > 0 && (workers > 1 || f.State().Bytes() >= loaderAlone) {
		if l := b.NewLoader(spare); l != nil {
			return always(l.AddAll), l.Flush
		}
	}
	return Adder(f, workers), func() {}
}

// loaderAlone is the size from which a loader is faster than a BatchAdder for one goroutine, which needs no atomic
// instructions: that of a shared cache.
const loaderAlone = 32 << 20

// admit returns a function that adds the planned number of keys unconditionally, and others
// until g rejects one. It is safe for concurrent use.
func admit(g growing, planned uint64) func([]umbel.Digest) error {
	var mu sync.Mutex
	return func(ds []umbel.Digest) error {
		mu.Lock()
		defer mu.Unlock()
		sure := min(planned, uint64(len(ds)))
		umbel.AddAll(g, nil, ds[:sure])
		planned -= sure
		for _, d := range ds[sure:] {
			if _, err := g.TryAdd(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// always returns add with a nil error.
func always(add func([]umbel.Digest)) func([]umbel.Digest) error {
	return func(ds []umbel.Digest) error {
		add(ds)
		return nil
	}
}

// Adder returns a function that adds digests to f, safe for use by that many goroutines. It returns no error.
func Adder(f umbel.Filter, workers int) func([]umbel.Digest) error {
	if workers > 1 {
		if a, ok := f.(umbel.AtomicBatchAdder); ok {
			return always(a.AddAllAtomic)
		}
	}
	var mu sync.Mutex
	return func(ds []umbel.Digest) error {
		mu.Lock()
		defer mu.Unlock()
		umbel.AddAll(f, nil, ds)
		return nil
	}
}

// RoomError is the error of keys whose number is unknown, that come once, and for which there is too little memory.
type RoomError struct {
	Kind   string
	Memory uint64 // bytes
	// Keys is the number of keys at the rate that a filter in the memory holds. It is 0 if no filter of the kind can be made, since the
	// kind neither folds nor grows.
	Keys   uint64
	FPRate float64
}

func (e *RoomError) Error() string {
	const remedy = "set the number of keys or more memory, or read the keys twice"
	if e.Keys == 0 {
		return fmt.Sprintf("kind %s neither folds nor grows, and needs the number of keys; %s", e.Kind, remedy)
	}
	return fmt.Sprintf("the keys need more than %d bytes of memory, in which a filter holds %d at a rate of %.3g; %s", e.Memory, e.Keys, e.FPRate, remedy)
}
