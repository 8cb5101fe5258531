package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Variant is this kind for code that handles any.
var Variant = umbel.Variant{
	Kind:   Kind,
	Doc:    "Parquet's split-block filter, bit for bit with hash xxh64: one cache miss a question (Parquet's BloomFilter.md)",
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
	{Name: "m", Doc: "cells (bits), rounded up to whole blocks of 256", Min: 1, Max: MaxBlocks * BlockBits},
}

var sizing = design.Sizing{
	MaxK:     K,
	Width:    1,
	Round:    func(m uint64, _ int) uint64 { return (m + BlockBits - 1) / BlockBits * BlockBits },
	Unit:     func(uint64, int) uint64 { return BlockBits },
	FPRate:   func(m uint64, _ int, n uint64) float64 { return plan.SplitBlockFPRate(m, n) },
	SizeForK: func(n uint64, _ int, p float64) (uint64, error) { return plan.SplitBlockSize(n, p) },
}

// planWith is Plan with the size given, perhaps; it also returns the number of
// keys that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := ps.Check(Kind, paramDocs); err != nil {
		return Shape{}, 0, err
	}
	m, _, n, err := sizing.Solve(g, ps.Uint("m"), K)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("splitblock: %w", err)
	}
	s := Shape{M: m, Hasher: g.Hasher}
	return s, n, s.Check()
}
