package bloom

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is this kind for code that handles any.
var Kind = design.Kind[Shape, *Filter]{
	Name:     Name,
	Doc:      "standard Bloom filter: least memory, k cache misses a question (Bloom 1970)",
	Params:   paramDocs,
	Monotone: true,
	Plan:     planWith,
	Explain:  Shape.explain,
	New:      NewShape,
	Open:     Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (bits)", Min: 1, Max: 1 << 56},
	{Name: "k", Doc: "cells set per key", Min: 1, Max: MaxK},
}

var sizing = design.Anywhere(MaxK, 1)

// planWith is Plan with some of m and k given; it also returns the number of keys
// that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("bloom: %w", err)
	}
	s := Shape{M: m, K: k, Hasher: g.Hasher}
	if m%(1<<wordGroup) == 0 {
		s.Group = wordGroup
	}
	return s, n, s.Check()
}
