package folding

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is this kind for code that handles any. What it makes is a [*Counting] if a
// width is given, and a [*Filter] otherwise.
var Kind = design.Kind[Shape, umbel.Filter]{
	Name:   Name,
	Doc:    "folds and unfolds by itself, so that its rate stays in an interval (Sailhan and Stehr 2012)",
	Params: paramDocs,
	Plan:   planWith,
	New:    func(s Shape) (umbel.Filter, error) { return either(make1(s)) },
	Open:   func(s umbel.State) (umbel.Filter, error) { return either(open(s)) },
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "k", Doc: "cells set per key", Min: 1, Max: MaxK},
	{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16; without it keys can't be removed", Min: 4, Max: 16},
	{Name: "oversize", Doc: "size of the base, in sizes that all its keys need", Min: 1, Max: 64},
	{Name: "tolerance", Doc: "half the interval of the rate, as a share of its middle", Min: 0.01, Max: 0.99, Float: true},
}

// defaultTolerance is ε/ρ where none is given, as in ρ = .01, ε = .002.
const defaultTolerance = 0.2

// either returns a filter as the type that can do what its base can.
func either(f *Filter, err error) (umbel.Filter, error) {
	switch {
	case err != nil:
		return nil, err
	case f.shape.Width != 0:
		return &Counting{*f}, nil
	}
	return f, nil
}

// planWith is Plan with some parameters given; it also returns the number of keys
// that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if g.Keys == 0 || g.FPRate == 0 || g.Bytes != 0 {
		return Shape{}, 0, fmt.Errorf("folding: give the largest number of keys and the highest rate, and no bytes: %w", umbel.ErrGoal)
	}
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	s := Shape{K: int(ps.Uint("k")), Hasher: g.Hasher}
	if wish := ps.Uint("width"); wish != 0 {
		for s.Width = 4; uint64(s.Width) < wish; {
			s.Width *= 2
		}
	}
	if s.K == 0 {
		_, k, err := plan.Size(g.Keys, g.FPRate)
		if err != nil {
			return Shape{}, 0, fmt.Errorf("folding: %w: %w", err, umbel.ErrGoal)
		}
		s.K = min(k, MaxK)
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
		return Shape{}, 0, fmt.Errorf("folding: %w: %w", err, umbel.ErrGoal)
	}
	if s.M >= plan.WholeWordsFrom && s.M%64 == 0 {
		s.Group = 6
	}
	return s, g.Keys, s.Check()
}

// baseSize returns the size of the base: that of plan.BaseSize or, where so few keys have
// no size in the interval, a multiple of what they need.
func baseSize(n uint64, k int, most, rate float64, oversize uint64) (uint64, error) {
	if oversize == 0 {
		oversize = plan.DefaultOversize
	}
	if m, err := plan.BaseSize(n, k, rate, most-rate, float64(oversize)); err == nil {
		return m, nil
	}
	m, err := plan.SizeForK(n, k, most)
	if err == nil && m > 1<<56/oversize {
		err = fmt.Errorf("%d times %d cells are more than 2^56", oversize, m)
	}
	return m * oversize, err
}
