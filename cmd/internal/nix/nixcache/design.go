package nixcache

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// DefaultMemory is the default of Design.Memory: 64 MiB. Publisher and clients take time in proportion to the cells
// for an update.
const DefaultMemory = 64 << 20

// minKeys is the least number of paths that a summary is planned for.
const minKeys = 1000

// Design determines the filter of a publication. Its keys are the hashes of store paths as text, 32 characters, so
// that every subscriber can query them. It has the least k for which the cells fit into Memory, since the fewest cells
// per key give the smallest snapshots (Mitzenmacher 2002; docs/messages.md). If that is 1, it is of kind bloom.
// Otherwise it is of kind blocked if that fits, since a delta then has the block of a path, and few bits for each of
// its cells (BenchmarkDelta).
type Design struct {
	Rate float64 // false-positive rate, in (0, 1)
	// Keys is the number of paths that the filter is made for; if it is 0, a quarter more than there are at
	// the beginning, at least 1000. A cache that grows beyond it gets a larger filter, which subscribers fetch
	// as a snapshot.
	Keys   uint64
	Memory uint64 // bytes of cells at most; if it is 0, DefaultMemory
}

// HasKind reports whether filters of publications may be of this kind.
func HasKind(kind string) bool { return kind == bloom.Name || kind == blocked.Name }

// cellsFilter is a filter of one of the kinds of designs.
type cellsFilter interface {
	Hasher() umbel.Hasher
	Add(umbel.Digest) bool
	Locate([]uint64, umbel.Digest) []uint64
	State() umbel.State
}

// shape is the shape of a filter.
type shape struct {
	m       uint64 // cells
	k       int    // cells per path
	blocked bool   // they are in one block
}

// blockedWords is the most words of a block in which a path sets a cell.
const blockedWords = 8

// shapes yields the shapes for a number of paths, in the order of preference.
func (d Design) shapes(keys uint64) func(yield func(shape) bool) {
	return func(yield func(shape) bool) {
		if m, err := plan.SizeForK(keys, 1, d.Rate); err == nil && !yield(shape{m: m, k: 1}) {
			return
		}
		for k := 2; k <= blockedWords; k++ {
			if m, err := blocked.Size(keys, k, 1, d.Rate); err == nil && !yield(shape{m, k, true}) {
				return
			}
		}
		for k := 2; k <= bloom.MaxK; k++ {
			if m, err := plan.SizeForK(keys, k, d.Rate); err == nil && !yield(shape{m: m, k: k}) {
				return
			}
		}
	}
}

// shape returns the shape for n paths now. It returns an error wrapping umbel.ErrGoal if no filter fits.
func (d Design) shape(n uint64) (shape, error) {
	keys := d.Keys
	if keys < n {
		keys = max(n+n/4, minKeys)
	}
	memory := d.Memory
	if memory == 0 {
		memory = DefaultMemory
	}
	for s := range d.shapes(keys) {
		if s.m = (s.m + 63) / 64 * 64; s.m/8 <= memory {
			return s, nil
		}
	}
	return shape{}, sentinel.Errorf(umbel.ErrGoal, "%d paths at a rate of %.3g need more than %d bytes; allow more memory or a higher rate", keys, d.Rate, memory)
}

// isOutgrown reports whether a filter for s has a rate above twice the planned one with n paths.
func (d Design) isOutgrown(s shape, n uint64) bool {
	rate := plan.Filter{M: s.m, K: s.k}.FPRate(n)
	if s.blocked {
		rate = blocked.Shape{M: s.m, Words: s.k, Bits: 1}.Forecast(n).FPRate
	}
	return rate > umbel.OverfullFactor*d.Rate
}

// filter returns an empty filter.
func (s shape) filter() (cellsFilter, error) {
	if s.blocked {
		return blocked.NewShape(blocked.Shape{M: s.m, Words: s.k, Bits: 1})
	}
	return bloom.NewShape(bloom.Shape{M: s.m, K: s.k, Group: 6})
}

// shapeOf returns the shape of a state that a filter of one of the designs has.
func shapeOf(s umbel.State) (shape, bool) {
	switch s.Kind {
	case bloom.Name:
		if f, err := bloom.Open(s); err == nil && f.Shape().Group == 6 && f.Shape().Hasher == (umbel.Hasher{}) {
			return shape{m: f.Shape().M, k: f.Shape().K}, true
		}
	case blocked.Name:
		if f, err := blocked.Open(s); err == nil && f.Shape().Bits == 1 && f.Shape().Hasher == (umbel.Hasher{}) {
			return shape{f.Shape().M, f.Shape().Words, true}, true
		}
	}
	return shape{}, false
}
