package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/probe"
)

// wordGroup is the group of filters that Plan and Kind make with a multiple of
// 2^6 cells, as those of package bloom are. Others have group 0.
const wordGroup = probe.WordLog

// Kind is this kind for code that handles any.
var Kind = design.Kind[Shape, *Filter]{
	Name:    Name,
	Doc:     "counting Bloom filter: keys can be removed, and are counted; 4 times the memory (Fan et al. 2000)",
	Params:  paramDocs,
	Plan:    planWith,
	Explain: explain,
	New:     NewShape,
	Open:    Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (counters)", Min: 1, Max: 1 << 56},
	{Name: "k", Doc: "counters per key", Min: 1, Max: MaxK},
	{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16", Min: 4, Max: 16},
}

// planWith is Plan with some of m, k and width given; it also returns the number of
// keys that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	width := uint(DefaultWidth)
	for uint64(width) < ps.Uint("width") {
		width *= 2
	}
	m, k, n, err := design.Anywhere(MaxK, uint64(width)).Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("counting: %w", err)
	}
	s := Shape{M: m, K: k, Width: width, Hasher: g.Hasher}
	if m%(1<<wordGroup) == 0 {
		s.Group = wordGroup
	}
	return s, n, s.Check()
}
