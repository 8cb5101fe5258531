package partitioned

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is this kind for code that handles any.
var Kind = design.Kind[Shape, *Filter]{
	Name:     Name,
	Doc:      "partitioned Bloom filter: one cell in each of k slices, rate exact in the mean (Almeida et al. 2007)",
	Params:   paramDocs,
	Monotone: true,
	Plan:     planWith,
	Explain:  Shape.explain,
	New:      NewShape,
	Open:     Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (bits), rounded up to k equal slices", Min: 1, Max: 1 << 55},
	{Name: "k", Doc: "slices, and so cells set per key", Min: 1, Max: MaxK},
}

var sizing = design.Sizing{
	MaxK:  MaxK,
	Width: 1,
	Step:  func(k int) uint64 { return uint64(k) },
	Unit: func(m uint64, k int) uint64 {
		if m < uint64(k)<<wordGroup {
			return uint64(k)
		}
		return uint64(k) << wordGroup
	},
	FPRate: func(m uint64, k int, n uint64) float64 {
		if m < uint64(k) {
			return 1 // no cell for some slice
		}
		return plan.PartitionedFPRate(m, k, n)
	},
	Size:     plan.PartitionedSize,
	SizeForK: plan.PartitionedSizeForK,
}

// planWith is Plan with some of m and k given; it also returns the number of keys
// that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("partitioned: %w", err)
	}
	s := Shape{M: m, K: k, Hasher: g.Hasher}
	if s.slice()%(1<<wordGroup) == 0 {
		s.Group = wordGroup
	}
	return s, n, s.Check()
}
