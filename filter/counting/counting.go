// Package counting provides the counting Bloom filter: a Bloom filter with small counters
// instead of bits, so that keys can be removed (Fan, Cao, Almeida and Broder 2000). Its
// nonzero counters are the bits of the bloom filter with the same m, k, group, hasher and
// keys. Its rate is therefore that of the bloom filter; its memory is 4, 8 or 16 times
// as large.
//
// # What a counter holds
//
// A key increments a counter once for each of its k positions, so twice if two positions
// are the same cell. Incrementing once per cell would be as safe. But two positions may
// become the same cell when the filter is folded, which adds counters: the fold equals
// the filter built small only if every position counts. This costs no time and makes a
// counter one too high for k²/2m of the keys.
//
// A counter at its maximum, 2^width-1, is saturated. The number of keys that it stands
// for is then unknown, so no addition or removal changes it. Removing a key that was
// added therefore never removes another key. [Shape.Overflow] returns how rarely
// counters saturate.
//
// The kind's name stands for its positions: those of probe.Mapping over the stream of
// probe.Start, in groups of 2^group cells (spec/kinds/counting.md).
package counting

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Name is the name of this kind.
const Name = "counting"

// Filter is a counting Bloom filter. All methods that begin with Has or Count are safe to call
// concurrently; changes require exclusive access. A Filter must not be copied, since the copies would share
// memory: use Clone. The zero Filter contains nothing and is a target for UnmarshalBinary; adding to it
// panics.
type Filter struct {
	NoCopy kinds.NoCopy

	counters arrays.Counters
	view     *view // nil until the first call of View
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.counters.Hasher(), Planned: f.counters.Planned(), Zero: f.counters.IsZero()}
}

// NewShape returns an empty filter of shape s. The error wraps umbel.ErrGoal if no filter can have that
// shape. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	return wrap(arrays.NewCounters(s.core(), s.withDefaults().Width))
}

// Open returns the filter with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) { return wrap(arrays.OpenCounters(s)) }

func wrap(c arrays.Counters, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	return &Filter{counters: c}, nil
}

// Add adds d and reports whether a counter changed. It returns false only if all counters
// of d are saturated.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.view == nil {
		return f.counters.Add(d)
	}
	f.prefetch(d)
	return f.counters.AddMirrored(f.view.words, d)
}

// prefetch loads the counters of d, and its bits in the view, which exists.
func (f *Filter) prefetch(d umbel.Digest) {
	f.counters.Prefetch(d)
	f.view.prefetcher.Prefetch(d)
}

// Has reports whether d may have been added and not removed since. It is never false for
// a digest that was.
func (f *Filter) Has(d umbel.Digest) bool {
	if f.view != nil {
		return f.view.bloom.Has(d)
	}
	return f.counters.Has(d)
}

// Remove undoes one addition of d and reports whether it did. If Count(d) is 0, so that d
// is absent, it changes nothing and returns false. Saturated counters keep their value: a
// key all of whose counters are saturated stays, and Remove returns false for it, too.
//
// Remove only what was added. As in every counting filter, removing a false positive
// removes parts of other keys.
func (f *Filter) Remove(d umbel.Digest) bool {
	if f.view == nil {
		return f.counters.Remove(d)
	}
	f.prefetch(d)
	return f.view.bloom.Has(d) && f.counters.RemoveMirrored(f.view.words, d)
}

// Count returns how often d was added and not removed. It never returns too little, and
// returns too much about as often as Has is wrong. It is the minimum over the counters of
// d that are not saturated, each divided by the number of positions of d at it. If all
// are saturated, as after 2^width-1 additions, the number is unknown: then known is false and n is
// 2^64-1. Counters are 4 bits wide unless [Shape] has another width. n may be 0 if Has is true.
func (f *Filter) Count(d umbel.Digest) (n uint64, known bool) { return f.counters.Count(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	if f.view == nil {
		f.counters.HasAll(dst, ds)
		return
	}
	f.view.bloom.HasAll(dst, ds)
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if f.view == nil {
		f.counters.AddAll(changed, ds)
		return
	}
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	for _, d := range ds[:min(probe.PrefetchDistance, len(ds))] {
		f.prefetch(d)
	}
	for i, d := range ds {
		if next := i + probe.PrefetchDistance; next < len(ds) {
			f.prefetch(ds[next])
		}
		if fresh := f.counters.AddMirrored(f.view.words, d); changed != nil {
			changed[i] = fresh
		}
	}
}

// Locate appends the k positions of d to dst: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 { return f.counters.Locate(dst, d) }

// Clear removes all keys.
func (f *Filter) Clear() {
	f.counters.Clear()
	f.syncView()
}

// IsEmpty reports whether all counters are zero: whether every addition was removed.
// Removals do not clear saturated and copied counters; a filter that has any is not empty
// until Clear. IsEmpty stops at the first counter that is not zero.
func (f *Filter) IsEmpty() bool { return f.counters.Array().IsEmpty() }

// Additions returns the number of additions minus removals, where two additions of one
// key count as two: the sum of the counters divided by k. It is exact unless a counter is
// saturated, when the number may be larger, or Unfold has copied counters, when it may be
// smaller. Additions reads the whole filter.
func (f *Filter) Additions() (n uint64, exact bool) {
	a := f.counters.Array()
	if a.Shape.K == 0 {
		return 0, true
	}
	last := int(a.Cells.Limit())
	exact = !a.Copied
	for v, cells := range a.Cells.Histogram(last) {
		n += uint64(v) * cells
		exact = exact && (v < last || cells == 0)
	}
	return n / uint64(a.Shape.K), exact
}

// Stats measures the filter: see [umbel.Filter]. It counts the nonzero cells; a key that
// was added several times counts once. If Unfold has copied counters, Low is 0 and
// Keys may be too high, because removing a key that was copied leaves some of its copies. The stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats { return f.counters.Stats() }

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State { return f.counters.State() }

// Shape returns the shape of the filter.
func (f *Filter) Shape() Shape {
	s := f.counters.Shape()
	return Shape{M: s.M, K: s.K, Width: f.counters.Cells().Width, Group: s.Group, Hasher: s.Hasher}
}
