package folding

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Plan returns the shape, with a base of bits, for up to g.Keys keys at a rate of at most
// that of the goal, which becomes the upper end of the interval. The lower end is two thirds
// of it: the interval of Sailhan and Stehr with ρ = 5/6 of the rate and ε = ρ/5. The base is
// 12 times as large as all keys need, so that some size is close to what fewer keys need:
// plan.Interval.Base. The goal must have keys and a rate. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// defaultTolerance is the default of ε/ρ, as in ρ = 0.01, ε = 0.002.
const defaultTolerance = 0.2

// planWith is Plan with parameters that override the defaults. It also returns the number of
// keys that the shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if g.Keys == 0 || g.FPRate == 0 || g.Bytes != 0 {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "folding: the goal must have the largest number of keys and the highest rate, and no bytes")
	}
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	s := Shape{K: int(ps.Uint("k")), Hasher: g.Hasher}
	if width := ps.Uint("width"); width != 0 {
		s.Width = arrays.RoundWidth(width)
	}
	if s.K == 0 {
		f, err := plan.Size(g.Keys, g.FPRate)
		if err != nil {
			return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "folding: %w", err)
		}
		s.K = min(f.K, maxK)
	}
	share := defaultTolerance
	if t, ok := ps.Get("tolerance"); ok && t.Float() != 0 {
		share = t.Float()
	}
	rate := g.FPRate / (1 + share)
	s, err := s.Keep(rate, g.FPRate-rate)
	if err != nil {
		return Shape{}, 0, err
	}
	s.M, err = baseSize(g.Keys, s.K, g.FPRate, rate, ps.Uint("oversize"))
	if err != nil {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "folding: %w", err)
	}
	if s.M >= plan.WholeWordsFrom && s.M%64 == 0 {
		s.Group = 6
	}
	return s, g.Keys, s.checkGoal()
}

// baseSize returns the size of the base: that of plan.Interval.Base or, if no size for so few keys
// has a rate in the interval or that size is less than they need, a multiple of what they need.
func baseSize(n uint64, k int, most, rate float64, oversize uint64) (uint64, error) {
	if oversize == 0 {
		oversize = plan.DefaultOversize
	}
	m, err := plan.SizeForK(n, k, most)
	if base, baseErr := (plan.Interval{K: k, FPRate: rate, Eps: most - rate}).Base(n, float64(oversize)); baseErr == nil && (err != nil || base >= m) {
		return base, nil
	}
	if err == nil && m > 1<<56/oversize {
		err = fmt.Errorf("%d times %d cells are more than 2^56", oversize, m)
	}
	return m * oversize, err
}

// Kind is this kind of filter, for code that works with any kind. Its filters are of type *Counting
// if a width is given, and *Filter otherwise.
var Kind umbel.Kind = kinds.Kind[Shape, umbel.Filter]{
	Name: Name,
	Doc:  "folds and unfolds by itself, so that its rate stays at or below a limit, and close to it (Sailhan and Stehr 2012)",
	Params: []umbel.ParamDoc{
		{Name: "k", Doc: "cells set per key", Min: 1, Max: maxK},
		{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16; without it keys cannot be removed", Min: 4, Max: 16},
		{Name: "oversize", Doc: "size of the base as a multiple of the size that all its keys need", Min: 1, Max: 64},
		{Name: "tolerance", Doc: "half the width of the interval of the rate, as a fraction of its middle", Min: 0.01, Max: 0.99, Float: true},
	},
	Plan: planWith,
	New:  func(s Shape) (umbel.Filter, error) { return asFilter(newFilter(s)) },
	Open: func(s umbel.State) (umbel.Filter, error) { return asFilter(open(s)) },
}.Kind()

// asFilter returns f as the type for its base.
func asFilter(f *Filter, err error) (umbel.Filter, error) {
	switch {
	case err != nil:
		return nil, err
	case f.shape.Width != 0:
		return asCounting(f, nil)
	}
	return f, nil
}
