package bloom

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Variant is this kind for code that handles any.
var Variant = umbel.Variant{
	Kind:   Kind,
	Doc:    "standard Bloom filter: least memory, k cache misses a question (Bloom 1970)",
	Params: paramDocs,
	Plan: func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
		s, n, err := planWith(g, ps)
		if err != nil {
			return umbel.Forecast{}, err
		}
		return s.Forecast(n), nil
	},
	New: func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		s, _, err := planWith(g, ps)
		if err != nil {
			return nil, err
		}
		return New(s)
	},
	Open: func(s umbel.State) (umbel.Filter, error) { return Open(s) },
}

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (bits)", Min: 1, Max: 1 << 56},
	{Name: "k", Doc: "cells set per key", Min: 1, Max: MaxK},
}

var sizing = design.Sizing{
	MaxK:  MaxK,
	Width: 1,
	Round: func(m uint64, k int) uint64 {
		if m < groupedFrom {
			return m
		}
		return (m + 63) &^ 63
	},
	Unit: func(m uint64, _ int) uint64 {
		if m < groupedFrom {
			return 1
		}
		return 64
	},
	FPRate:   plan.FPRate,
	Size:     plan.Size,
	SizeForK: plan.SizeForK,
}

// planWith is Plan with some of m and k given; it also returns the number of keys
// that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := ps.Check(Kind, paramDocs); err != nil {
		return Shape{}, 0, err
	}
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("bloom: %w", err)
	}
	s := Shape{M: m, K: k, Hasher: g.Hasher}
	if m >= groupedFrom {
		s.Group = wordGroup
	}
	return s, n, s.Check()
}
