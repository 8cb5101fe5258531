// Package overlap compares two filters: how many keys they have in common, and what both
// of them hold.
package overlap

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
)

// Bits returns the one array of bits that a filter is, or that it has to be sent: the
// view of counters, the face of a base. The error wraps errors.ErrUnsupported if there
// is none. It may share the filter's memory.
func Bits(f umbel.Filter) (umbel.Filter, error) {
	switch f := f.(type) {
	case interface{ View() *counting.View }:
		return f.View().Filter(), nil
	case interface{ Folded() (*bloom.Filter, error) }:
		return f.Folded()
	}
	if s := f.State(); len(s.Arrays) != 1 || len(s.Parts) != 0 || s.Arrays[0].Width > 1 {
		return nil, fmt.Errorf("a filter of kind %s isn't one array of bits and has none, and only such are compared: %w", s.Kind, errors.ErrUnsupported)
	}
	return f, nil
}

// Overlap is what two filters tell of their keys, with probability 0.95 or more.
type Overlap struct {
	A, B, Union, Both plan.Estimate
	Cells             uint64 // of the filters as they were compared
}

// Of estimates how many keys a and b share; both are of [Bits], of kinds in the list. It
// may change both. The error wraps umbel.ErrMismatch if they don't go together.
func Of(kinds umbel.Kinds, a, b umbel.Filter) (Overlap, error) {
	union, err := align(kinds, a, b)
	if err != nil {
		return Overlap{}, err
	}
	size := union.State().Arrays[0].Len
	o := Overlap{A: Keys(a), B: Keys(b), Union: Keys(union), Cells: size}
	if k, ok := plainK(a, b); ok {
		ones := func(f umbel.Filter) uint64 { return f.State().Arrays[0].Nonzero() }
		o.Both = plan.IntersectionKeys(size, k, ones(a), ones(b), ones(union))
	} else {
		o.Both = both(o.A, o.B, o.Union)
	}
	return o, nil
}

// Intersect leaves in a the cells that are set in b too; both are of [Bits], of kinds in
// the list. All keys of both filters stay in a. Others do as well: those whose cells
// were set by different keys on the two sides; the rate is above that of a filter made of
// the common keys. b may be changed. The error wraps umbel.ErrMismatch if the two don't
// go together.
func Intersect(kinds umbel.Kinds, a, b umbel.Filter) error {
	if _, err := align(kinds, a, b); err != nil {
		return err
	}
	words, others := a.State().Arrays[0].Words, b.State().Arrays[0].Words
	for i := range words {
		words[i] &= others[i]
	}
	return nil
}

// Keys returns what a filter says of the number of its keys.
func Keys(f umbel.Filter) plan.Estimate {
	s := f.Stats()
	return plan.Estimate{Value: s.Keys, Low: s.Low, High: s.High}
}

// align folds a and b to the size of their union, which it returns.
func align(kinds umbel.Kinds, a, b umbel.Filter) (umbel.Filter, error) {
	union, err := kinds.Open(a.State().Clone())
	if err != nil {
		return nil, err
	}
	m, ok := union.(umbel.Merger)
	if !ok {
		return nil, fmt.Errorf("a filter of kind %s doesn't merge: %w", a.State().Kind, errors.ErrUnsupported)
	}
	if err := m.Merge(b.State()); err != nil {
		return nil, err
	}
	size := union.State().Arrays[0].Len
	for _, f := range []umbel.Filter{a, b} {
		if err := foldTo(f, size); err != nil {
			return nil, err
		}
	}
	return union, nil
}

// foldTo folds f to the size that a union with it has.
func foldTo(f umbel.Filter, size uint64) error {
	m := f.State().Arrays[0].Len
	if m == size {
		return nil
	}
	folder, ok := f.(umbel.Folder)
	if !ok {
		return fmt.Errorf("a filter of kind %s, of %d cells, is compared at %d, and doesn't fold: %w", f.State().Kind, m, size, errors.ErrUnsupported)
	}
	return folder.Fold(m / size)
}

// plainK returns k if the filters count their keys by the formula of the standard
// one, for which the variance of an intersection is known.
func plainK(fs ...umbel.Filter) (k int, plain bool) {
	for _, f := range fs {
		s := f.Stats()
		k = int(s.K)
		if float64(k) != s.K || k < 1 {
			return 0, false
		}
		want := plan.Keys(s.Cells, k, f.State().Arrays[0].Nonzero())
		if s.Keys != want && !(math.Abs(s.Keys-want) <= 1e-9*want) {
			return 0, false
		}
	}
	return k, true
}

// both returns the intersection of two sets by inclusion and exclusion. The standard
// deviation of a sum is at most the sum of theirs, however the terms depend on each
// other: so is the interval's half, which is therefore wide.
func both(a, b, union plan.Estimate) plan.Estimate {
	most := min(a.High, b.High)
	value := a.Value + b.Value - union.Value
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return plan.Estimate{Value: math.NaN(), High: most}
	}
	low := value - (a.Value - a.Low) - (b.Value - b.Low) - (union.High - union.Value)
	high := value + (a.High - a.Value) + (b.High - b.Value) + (union.Value - union.Low)
	value = min(max(value, 0), a.Value, b.Value)
	return plan.Estimate{Value: value, Low: min(value, max(low, 0)), High: max(value, min(high, most))}
}
