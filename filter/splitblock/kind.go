package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is this kind for code that handles any.
var Kind = design.Kind[Shape, *Filter]{
	Name:     Name,
	Doc:      "Parquet's split-block filter, bit for bit with hash xxh64: one cache miss a question (Parquet's BloomFilter.md)",
	Params:   paramDocs,
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (bits), rounded up to whole blocks of 256", Min: 1, Max: MaxBlocks * BlockBits},
}

var sizing = design.Sizing{
	MaxK:     K,
	Width:    1,
	Step:     func(int) uint64 { return BlockBits },
	Unit:     func(uint64, int) uint64 { return BlockBits },
	FPRate:   func(m uint64, _ int, n uint64) float64 { return plan.SplitBlockFPRate(m, n) },
	SizeForK: func(n uint64, _ int, p float64) (uint64, error) { return plan.SplitBlockSize(n, p) },
}

// planWith is Plan with the size given, perhaps; it also returns the number of
// keys that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, _, n, err := sizing.Solve(g, ps.Uint("m"), K)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("splitblock: %w", err)
	}
	s := Shape{M: m, Hasher: g.Hasher}
	return s, n, s.Check()
}
