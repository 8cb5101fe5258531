// Package overlap compares two filters: it estimates the number of shared keys, and intersects
// their cells.
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

// Bits returns a filter as one array of bits: the view of a counting filter, the folded filter of
// a folding filter. It may share the filter's memory. It returns an error wrapping
// errors.ErrUnsupported if the filter has no such array.
func Bits(f umbel.Filter) (umbel.Filter, error) {
	switch f := f.(type) {
	case interface{ View() *counting.View }:
		return f.View().Filter(), nil
	case interface{ Folded() (*bloom.Filter, error) }:
		return f.Folded()
	}
	if s := f.State(); len(s.Arrays) != 1 || len(s.Parts) != 0 || s.Arrays[0].Width > 1 {
		return nil, fmt.Errorf("kind %s can't be compared, because it isn't one array of bits: %w", s.Kind, errors.ErrUnsupported)
	}
	return f, nil
}

// Overlap contains estimates of two sets of keys, with intervals of at least 95% confidence.
type Overlap struct {
	A, B, Union, Both plan.Estimate
	Cells             uint64 // at which the filters were compared; 0 if each had its own size
}

// Of estimates how many keys a and b share; both are from [Bits], and their kinds are in kinds.
// Filters of different sizes are folded to a common one or, if they are of kind bloom and none is
// close, compared at their own. It may change both. It returns an error wrapping umbel.ErrMismatch if they are incompatible.
func Of(kinds umbel.Kinds, a, b umbel.Filter) (Overlap, error) {
	union, err := align(kinds, a, b)
	if differ(a, b, err) {
		return sweep(a, b)
	}
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

// Intersect clears the cells of a that aren't set in b; both are from [Bits], and their kinds are
// in kinds. The keys that are in both filters stay in a. The rate is higher than that of a filter
// made of the shared keys, because different keys may have set the same cells. Filters of different
// sizes are folded to a common one or, if they are of kind bloom and none is close, a keeps its own. It
// may change b. It returns an error wrapping umbel.ErrMismatch if they are incompatible.
func Intersect(kinds umbel.Kinds, a, b umbel.Filter) error {
	if _, err := align(kinds, a, b); differ(a, b, err) {
		return keepCommon(a, b)
	} else if err != nil {
		return err
	}
	words, others := a.State().Arrays[0].Words, b.State().Arrays[0].Words
	for i := range words {
		words[i] &= others[i]
	}
	return nil
}

// differ reports whether err is due to the sizes or the k of two filters of kind bloom.
func differ(a, b umbel.Filter, err error) bool {
	return errors.Is(err, umbel.ErrMismatch) && a.State().Kind == bloom.Name && a.State().CheckMatch(b.State()) == nil
}

// Keys returns the estimated number of keys of a filter.
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
		return nil, fmt.Errorf("kind %s doesn't merge: %w", a.State().Kind, errors.ErrUnsupported)
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
		return fmt.Errorf("a filter of kind %s with %d cells must be folded to %d cells, and doesn't fold: %w", f.State().Kind, m, size, errors.ErrUnsupported)
	}
	return folder.Fold(m / size)
}

// plainK returns k if the number of keys follows from the formula of the standard filter, for
// which the variance of an intersection is known.
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

// both returns the intersection of two sets by inclusion and exclusion. The half width of the
// interval is the sum of those of the terms, an upper bound however the terms are correlated.
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
