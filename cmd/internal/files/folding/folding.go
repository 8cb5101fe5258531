// Package folding finds the factor by which to fold a filter for a rate or a size.
package folding

import (
	"errors"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Ladder is a filter and the factors by which it folds.
type Ladder struct {
	variant umbel.Kind
	given   umbel.Params // the parameters of the filter that its kind documents
	filter  umbel.Filter
	stats   umbel.Stats
	Factors []uint64 // ascending, from 1
}

// NewLadder returns the ladder of f. It returns an error wrapping errors.ErrUnsupported if f
// doesn't fold.
func NewLadder(vs umbel.Kinds, f umbel.Filter) (*Ladder, error) {
	if _, ok := f.(umbel.Folder); !ok {
		return nil, sentinel.Errorf(errors.ErrUnsupported, "kind %s doesn't fold", f.State().Kind)
	}
	state := f.State()
	v, err := vs.Find(state.Kind)
	if err != nil {
		return nil, err
	}
	l := &Ladder{variant: v, filter: f, stats: f.Stats()}
	for _, doc := range v.Params {
		if n, ok := state.Params.Get(doc.Name); ok {
			l.given = append(l.given, umbel.Param{Name: doc.Name, Value: n})
		}
	}
	// A filter folds by the divisors of its number of groups, which is the largest divisor of
	// its number of cells by which it folds. It rejects others at once.
	divisors := plan.FoldSizes(l.stats.Cells, 1)
	for _, r := range slices.Backward(divisors) {
		if _, err := l.Fold(r); err == nil {
			l.Factors = plan.FoldSizes(r, 1)
			return l, nil
		} else if !errors.Is(err, umbel.ErrMismatch) {
			return nil, err
		}
	}
	return nil, sentinel.Errorf(umbel.ErrMismatch, "a filter of kind %s with %d cells has no factor to fold by", state.Kind, l.stats.Cells)
}

// Fold returns a copy of the filter, folded by r.
func (l *Ladder) Fold(r uint64) (umbel.Filter, error) {
	g, err := l.variant.Open(l.filter.State())
	if err != nil {
		return nil, err
	}
	return g, g.(umbel.Folder).Fold(r)
}

// Rate returns the expected rate after a fold by r: the rate of a filter of that size with the
// estimated number of keys.
func (l *Ladder) Rate(r uint64) float64 {
	if r == 1 {
		return l.stats.FPRate
	}
	if math.IsInf(l.stats.Keys, 0) || l.stats.Keys < 1 {
		return l.stats.FPRate // full or empty, as after the fold
	}
	goal := umbel.Goal{Keys: uint64(math.Round(l.stats.Keys)), Bytes: max(l.stats.Bytes/r, 1)}
	if f, err := l.variant.Plan(goal, l.given); err == nil && f.Cells == l.stats.Cells/r {
		return f.FPRate
	}
	return math.Pow(l.fill(r), l.stats.K)
}

// fill returns the expected fill ratio after a fold by r. A cell is zero if the r independent
// cells that it unites are zero (Sailhan and Stehr 2012, section III).
func (l *Ladder) fill(r uint64) float64 {
	return -math.Expm1(float64(r) * math.Log1p(-l.stats.Fill))
}

// Size returns the cells and bytes after a fold by r; expected values if they depend on the
// number of set cells.
func (l *Ladder) Size(r uint64) (cells, bytes uint64) {
	cells, bytes = l.stats.Cells/r, (l.stats.Bytes+r-1)/r
	if _, ok := l.filter.(umbel.PositionLister); ok && r > 1 {
		set := max(math.Round(l.fill(r)*float64(cells)), 1)
		f, err := l.variant.Plan(umbel.Goal{Keys: uint64(set)}, umbel.Params{{Name: "m", Value: umbel.Uint(cells)}})
		if err == nil {
			bytes = f.Bytes
		}
	}
	return cells, bytes
}

// ToRate returns the filter folded by the largest factor with a measured rate of at most p, and
// the factor. It returns an error wrapping umbel.ErrGoal if the rate of the filter is above p.
func (l *Ladder) ToRate(p float64) (umbel.Filter, uint64, error) {
	if l.stats.FPRate > p {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal,
			"the rate of the filter is already %s, above %s, and a fold only raises it",
			quantity.Rate(l.stats.FPRate).Percent(), quantity.Rate(p).Percent())
	}
	// The search starts at the expected rate, and the measured rate decides.
	i := 0
	for i+1 < len(l.Factors) && l.Rate(l.Factors[i+1]) <= p {
		i++
	}
	best, err := l.within(i, p)
	for ; best == nil && err == nil; i-- {
		best, err = l.within(i-1, p)
	}
	for err == nil && i+1 < len(l.Factors) {
		next, err := l.within(i+1, p)
		if next == nil || err != nil {
			return best, l.Factors[i], err
		}
		best, i = next, i+1
	}
	return best, l.Factors[i], err
}

// within returns the filter folded by factor i if its rate is at most p, and nil
// otherwise. Factor 0 is 1: the filter itself.
func (l *Ladder) within(i int, p float64) (umbel.Filter, error) {
	if i == 0 {
		return l.filter, nil
	}
	f, err := l.Fold(l.Factors[i])
	if err != nil || f.Stats().FPRate > p {
		return nil, err
	}
	return f, nil
}

// ToBytes returns the filter folded by the smallest factor with at most that many bytes, and the
// factor. It returns an error wrapping umbel.ErrGoal if there is none.
func (l *Ladder) ToBytes(bytes uint64) (umbel.Filter, uint64, error) {
	for _, r := range l.Factors {
		if l.stats.Bytes/r > bytes {
			continue
		}
		f, err := l.Fold(r)
		if err != nil {
			return nil, 0, err
		}
		if f.State().Bytes() <= bytes {
			return f, r, nil
		}
	}
	last := l.Factors[len(l.Factors)-1]
	_, least := l.Size(last)
	return nil, 0, sentinel.Errorf(umbel.ErrGoal, "the filter folds by at most %d, to %d bytes, want at most %d", last, least, bytes)
}
