// Package fold finds the factor by which a filter of any kind folds for a rate or a size.
//
// A filter that folds is a [umbel.Folder], and each filter folds by some factors only. [Steps] lists them with what they cost, and
// [To] folds a copy as far as a rate or a size needs. docs/folding.md shows how to choose a size that folds well.
package fold

import (
	"errors"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Step is a factor by which a filter folds, and what is expected of it after the fold.
type Step struct {
	Factor uint64
	Cells  uint64
	Bytes  uint64  // memory of all arrays
	FPRate float64 // the false-positive rate of a filter of that size with the estimated number of keys
}

// Steps returns the factors by which f folds, ascending from 1; its kind is in kinds, as in filter.All. It takes memory for
// one fold, and computes the rates. Nothing may change f while Steps runs. The error wraps errors.ErrUnsupported if
// f does not fold, and umbel.ErrMismatch if it has no factor.
func Steps(kinds umbel.Kinds, f umbel.Filter) ([]Step, error) {
	l, err := newLadder(kinds, f)
	if err != nil {
		return nil, err
	}
	steps := make([]Step, len(l.factors))
	for i, r := range l.factors {
		cells, bytes := l.size(r)
		steps[i] = Step{Factor: r, Cells: cells, Bytes: bytes, FPRate: l.rate(r)}
	}
	return steps, nil
}

// To returns f folded for a goal, and the factor. The goal has either a rate or bytes. With FPRate the factor is the largest
// one after which the measured rate is at most FPRate; with Bytes it is the smallest one after which all arrays
// take at most Bytes. If the factor is 1, To returns f, and otherwise a folded copy. Nothing may change f while To runs,
// which takes memory for two folds. Errors are those of [Steps], or wrap umbel.ErrGoal if no factor meets the goal.
func To(kinds umbel.Kinds, f umbel.Filter, goal umbel.Goal) (umbel.Filter, uint64, error) {
	if (goal.FPRate > 0) == (goal.Bytes > 0) {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "a fold is for a rate or for a size, got the rate %v and %d bytes", goal.FPRate, goal.Bytes)
	}
	l, err := newLadder(kinds, f)
	if err != nil {
		return nil, 0, err
	}
	if goal.Bytes > 0 {
		return l.toBytes(goal.Bytes)
	}
	return l.toRate(goal.FPRate)
}

// ladder is a filter and the factors by which it folds.
type ladder struct {
	kind    umbel.Kind
	given   umbel.Params // the parameters of the filter that its kind documents
	filter  umbel.Filter
	stats   umbel.Stats
	factors []uint64 // ascending, from 1
}

func newLadder(kinds umbel.Kinds, f umbel.Filter) (*ladder, error) {
	state := f.State()
	if _, ok := f.(umbel.Folder); !ok {
		return nil, sentinel.Errorf(errors.ErrUnsupported, "kind %s doesn't fold", state.Kind)
	}
	kind, err := kinds.Find(state.Kind)
	if err != nil {
		return nil, err
	}
	l := &ladder{kind: kind, filter: f, stats: f.Stats()}
	for _, doc := range kind.Params {
		if n, ok := state.Params.Get(doc.Name); ok {
			l.given = append(l.given, umbel.Param{Name: doc.Name, Value: n})
		}
	}
	// A filter folds by the divisors of its number of groups, which is the largest divisor of
	// its number of cells by which it folds. It rejects others at once.
	for _, r := range slices.Backward(plan.FoldSizes(l.stats.Cells, 1)) {
		if _, err := l.fold(r); err == nil {
			l.factors = plan.FoldSizes(r, 1)
			return l, nil
		} else if !errors.Is(err, umbel.ErrMismatch) {
			return nil, err
		}
	}
	return nil, sentinel.Errorf(umbel.ErrMismatch, "a filter of kind %s with %d cells has no factor to fold by", state.Kind, l.stats.Cells)
}

// fold returns a copy of the filter, folded by r. Fold takes new memory, so the copy may begin with the cells of the filter.
func (l *ladder) fold(r uint64) (umbel.Filter, error) {
	g, err := l.kind.Open(l.filter.State())
	if err != nil {
		return nil, err
	}
	return g, g.(umbel.Folder).Fold(r)
}

// rate returns the expected rate after a fold by r: the rate of a filter of that size with the
// estimated number of keys.
func (l *ladder) rate(r uint64) float64 {
	if r == 1 {
		return l.stats.FPRate
	}
	if math.IsInf(l.stats.Keys, 0) || l.stats.Keys < 1 {
		return l.stats.FPRate // full or empty, as after the fold
	}
	goal := umbel.Goal{Keys: uint64(math.Round(l.stats.Keys)), Bytes: max(l.stats.Bytes/r, 1)}
	if f, err := l.kind.Plan(goal, l.given); err == nil && f.Cells == l.stats.Cells/r {
		return f.FPRate
	}
	return math.Pow(l.fill(r), l.stats.K)
}

// fill returns the expected fill ratio after a fold by r. A cell is zero if the r independent
// cells that it unites are zero (Sailhan and Stehr 2012, section III).
func (l *ladder) fill(r uint64) float64 {
	return -math.Expm1(float64(r) * math.Log1p(-l.stats.Fill))
}

// size returns the cells and bytes after a fold by r; expected values if they depend on the
// number of set cells.
func (l *ladder) size(r uint64) (cells, bytes uint64) {
	cells, bytes = l.stats.Cells/r, (l.stats.Bytes+r-1)/r
	if _, ok := l.filter.(umbel.PositionLister); ok && r > 1 {
		set := max(math.Round(l.fill(r)*float64(cells)), 1)
		f, err := l.kind.Plan(umbel.Goal{Keys: uint64(set)}, umbel.Params{{Name: "m", Value: umbel.Uint(cells)}})
		if err == nil {
			bytes = f.Bytes
		}
	}
	return cells, bytes
}

// toRate returns the filter folded by the largest factor with a measured rate of at most p, and the factor.
func (l *ladder) toRate(p float64) (umbel.Filter, uint64, error) {
	if l.stats.FPRate > p {
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "the rate of the filter is already %.3g, above %.3g, and a fold only raises it", l.stats.FPRate, p)
	}
	// The search starts at the expected rate, and the measured rate decides.
	i := 0
	for i+1 < len(l.factors) && l.rate(l.factors[i+1]) <= p {
		i++
	}
	best, err := l.within(i, p)
	for ; best == nil && err == nil; i-- {
		best, err = l.within(i-1, p)
	}
	for err == nil && i+1 < len(l.factors) {
		next, err := l.within(i+1, p)
		if next == nil || err != nil {
			return best, l.factors[i], err
		}
		best, i = next, i+1
	}
	return best, l.factors[i], err
}

// within returns the filter folded by factor i if its rate is at most p, and nil
// otherwise. Factor 0 is 1: the filter itself.
func (l *ladder) within(i int, p float64) (umbel.Filter, error) {
	if i == 0 {
		return l.filter, nil
	}
	f, err := l.fold(l.factors[i])
	if err != nil || f.Stats().FPRate > p {
		return nil, err
	}
	return f, nil
}

// toBytes returns the filter folded by the smallest factor with at most that many bytes, and the factor.
func (l *ladder) toBytes(bytes uint64) (umbel.Filter, uint64, error) {
	for _, r := range l.factors {
		if l.stats.Bytes/r > bytes {
			continue
		}
		f := l.filter
		if r > 1 {
			var err error
			if f, err = l.fold(r); err != nil {
				return nil, 0, err
			}
		}
		if f.State().Bytes() <= bytes {
			return f, r, nil
		}
	}
	last := l.factors[len(l.factors)-1]
	_, least := l.size(last)
	return nil, 0, sentinel.Errorf(umbel.ErrGoal, "the filter folds by at most %d, to %d bytes, want at most %d", last, least, bytes)
}
