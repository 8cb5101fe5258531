package counting

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
)

// Fold shrinks f by factor r by adding counters: counter for counter to the filter built
// at that size, including saturated counters. r must divide the number of groups. The
// error wraps umbel.ErrMismatch; on error f is unchanged. Fold reads the filter once and
// allocates the smaller array.
func (f *Filter) Fold(r uint64) error { return f.set(f.counters.Array().Fold(r)) }

// Unfold enlarges f by factor u by copying counters: see [umbel.Folder]. A later removal
// of a key that was present decrements one copy of its counters, and the others remain:
// no key is lost, but the space is not recovered completely, Count may be too high, and
// Fold adds the copies. Low of the stats is then 0.
func (f *Filter) Unfold(u uint64) error { return f.set(f.counters.Array().Unfold(u)) }

// Merge adds the counters of another counting filter with the same k, width, group and
// hasher. A key in both is then present as often as in the two together; sums saturate.
// The other filter's keys can be removed from f. Filters of different sizes are merged as
// in bloom.Filter.Merge. The error wraps umbel.ErrMismatch and names the first
// difference; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	a := f.counters.Array()
	b, err := a.Other(s)
	if err != nil {
		return err
	}
	return f.set(a.Merge(b))
}

// Difference subtracts the counters of another filter from f: it undoes Merge, whose
// conditions apply. Every key of the other must be in f, at least as often. If a counter
// would become negative, which proves that this is not so, the error wraps
// umbel.ErrMismatch and f is unchanged. Counters cannot always prove it: as with Remove,
// subtracting what was never added loses other keys.
//
// A saturated counter keeps its value. A counter that is saturated in the other filter
// only is an error, because it stands for more than the counter of f. So is a filter
// whose counters Unfold copied, because they count more than was added.
func (f *Filter) Difference(s umbel.State) error {
	a := f.counters.Array()
	b, err := a.Other(s)
	if err != nil {
		return err
	}
	return f.set(a.Subtract(b))
}

// set makes a the counters of f unless err is not nil, and returns err.
func (f *Filter) set(a arrays.Array, err error) error {
	if err == nil {
		f.counters = arrays.CountersFrom(a)
		f.syncView()
	}
	return err
}
