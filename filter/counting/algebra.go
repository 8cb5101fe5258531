package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
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
	if b.Copied {
		return sentinel.Errorf(umbel.ErrMismatch, "counting: counters that were copied to unfold the filter count more than was added and cannot be subtracted")
	}
	return f.set(a.Join(b, cells.Array.Subtract))
}

// set makes a the counters of f unless err is not nil, and returns err.
func (f *Filter) set(a arrays.Array, err error) error {
	if err == nil {
		f.counters = arrays.CountersFrom(a)
		f.syncView()
	}
	return err
}

// Bound is an upper bound on how often keys are in two filters, as Max and Min return it.
// Nothing can be removed from it: a counter that is 1 may belong to a key of one filter
// and to another key of the other, and removing one would lose the other.
type Bound struct{ f Filter }

// Max returns the larger of each two counters of f and another filter, to which the
// conditions of Merge apply, in new memory. It contains what either contains, and Count
// is at least the larger of the two counts.
func (f *Filter) Max(s umbel.State) (*Bound, error) { return f.bound(s, cells.Array.Max) }

// Min returns the smaller of each two counters, under the same conditions as Max. It
// contains what both contain, and keys whose cells are set by others; Count is at least
// the smaller of the two counts. The intersection of sets has no exact summary: Sailhan
// and Stehr 2012, section II.
func (f *Filter) Min(s umbel.State) (*Bound, error) { return f.bound(s, cells.Array.Min) }

func (f *Filter) bound(s umbel.State, combine func(a, b cells.Array) error) (*Bound, error) {
	a := f.counters.Array()
	b, err := a.Other(s)
	if err != nil {
		return nil, err
	}
	bound := new(Bound)
	if err := bound.f.set(a.Clone().Join(b, combine)); err != nil {
		return nil, err
	}
	return bound, nil
}

// Has reports whether every counter of d is above zero.
func (b *Bound) Has(d umbel.Digest) bool { return b.f.Has(d) }

// Count returns a bound on how often d was added: see Max, Min and Filter.Count.
func (b *Bound) Count(d umbel.Digest) (n uint64, known bool) { return b.f.Count(d) }

// Cells returns the counters, which are the bound's own memory.
func (b *Bound) Cells() cells.Array { return b.f.counters.Cells() }

// String describes the bound by its type and shape, without seed and cells.
func (b *Bound) String() string { return kinds.String("counting.Bound", b.f.Shape()) }

// Format writes String for every verb: a seed is never printed. See [Filter.Format].
func (b *Bound) Format(s fmt.State, _ rune) { kinds.Format(s, b.String()) }

// MarshalJSON returns an error, as that of [Filter.MarshalJSON].
func (b *Bound) MarshalJSON() ([]byte, error) { return nil, kinds.ErrJSON("counting.Bound") }

// MarshalYAML returns an error, as MarshalJSON does.
func (b *Bound) MarshalYAML() (any, error) { return nil, kinds.ErrYAML("counting.Bound") }

// Stats measures the counters as those of a filter.
func (b *Bound) Stats() umbel.Stats { return b.f.Stats() }
