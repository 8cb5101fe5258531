// Package folding provides a Bloom filter that changes its size by itself, so that
// its rate stays in an interval while keys come and go (Sailhan and Stehr 2012). It is
// two filters: a base, far larger than what its keys need, which takes every addition
// and removal; and a face, the base folded to the size that its keys need now, which
// answers and is what is sent. When the rate of the face leaves the interval the base
// is folded anew, by another factor.
//
// # When the face is folded anew
//
// The interval is one of fills: a face with the share x of its cells set answers
// wrongly with probability x^k. An addition that takes the face above the interval
// makes it grow to the next size of the base's divisors that is inside or below; so
// after additions alone the face is the smallest that isn't above. A removal that
// takes it below makes it shrink to the next smaller size, but only if that is
// expected in the lower half of the interval and found in the lower three quarters.
// Between growing and shrinking lies therefore at least a quarter of the interval:
// keys that come and go at an end of it don't fold the base each time.
//
// A base that holds more than it was planned for is its own face, and the rate then
// rises; TryAdd refuses instead. Other kinds that grow have no such end.
//
// Its name is a promise: what fixes a position is in spec/kinds/folding.md. When the
// face is folded isn't part of it; how it is folded now is part of each state.
package folding

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
)

// Filter is a folding filter over a base of bits, which takes no removals; [Counting]
// does. Has and HasAll may run alongside themselves and each other; changes run alone.
// The zero Filter holds nothing and is a target for UnmarshalBinary; adding to it
// panics.
type Filter struct {
	shape  Shape // as it is now: a union may have folded the base
	base   base
	cells  cells.Array // of the base
	ladder []uint64    // sizes of the face, ascending, the last the base's
	face   face
}

// base is a bloom filter or a counting one.
type base interface {
	umbel.Filter
	umbel.Merger
	umbel.Clearer
}

// stand makes b, of the filter's own shape but for its size, the base. There is no
// face yet.
func (f *Filter) stand(b base) {
	f.base = b
	f.cells = b.State().Arrays[0]
	f.shape.M = f.cells.Len
	f.ladder = f.shape.ladder()
}

// Add adds d and reports whether the base changed. It may fold the base anew, which
// takes new memory for the face. It must run alone.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.base == nil {
		panic("umbel: add to a zero filter: make it with New")
	}
	if !f.base.Add(d) {
		return false
	}
	if f.face.add(d, f.shape.K); f.face.ones > f.face.most {
		f.grow()
	}
	return true
}

// TryAdd is Add, except that it refuses a key that would take the rate above the
// interval when the face can't grow any more: the error then wraps umbel.ErrLimit and
// nothing has changed. See [umbel.Grower].
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if f.base != nil && f.isFullFor(d) {
		_, high := f.shape.Interval()
		return false, fmt.Errorf("folding: with one key more the whole base of %d cells has a rate above %.3g: "+
			"make a filter for more keys, or accept a higher rate with Add: %w", f.shape.M, high, umbel.ErrLimit)
	}
	return f.Add(d), nil
}

// Has reports whether d may have been added, as the face says. It is never false for
// what was, and wasn't removed.
func (f *Filter) Has(d umbel.Digest) bool { return f.face.bits.Has(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.face.bits.HasAll(dst, ds) }

// Clear forgets all keys. The face becomes the smallest there is.
func (f *Filter) Clear() {
	if f.base == nil {
		return
	}
	f.base.Clear()
	f.fold(f.ladder[0])
}

// Stats measures the filter: see [umbel.Filter]. The rate is that of the face, which
// answers; all else is of the base, which is larger and tells the number of keys
// better. The face takes memory besides, at most one bit for each cell of the base;
// Face().Stats() is its own. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.base == nil {
		return umbel.Stats{}
	}
	s := f.base.Stats()
	s.FPRate = plan.FPRateAtFill(float64(f.face.ones)/float64(f.face.cells.Len), f.shape.K)
	return s
}
