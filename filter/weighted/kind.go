package weighted

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is this kind for code that handles any. What it makes has one class, and is
// then a standard filter; with classes it is made by Plan and New, or learnt from a
// log of questions by umbel make --weights.
var Kind = design.Kind[Shape, *Filter]{
	Name:     Name,
	Doc:      "more cells for keys that are often asked for: fewest false answers to uneven questions (Bruck et al. 2006)",
	Params:   paramDocs,
	Monotone: true,
	Plan:     planWith,
	Explain:  Shape.Explain,
	New:      NewShape,
	Open:     Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (bits)", Min: 1, Max: 1 << 56},
	{Name: "k", Doc: "cells set per key, of those in no other class", Min: 1, Max: MaxK},
}

var sizing = design.Anywhere(MaxK, 1)

// planWith is Plan of one class with some of m and k given; it also returns the
// number of keys that the shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("weighted: %w", err)
	}
	s := Shape{M: m, Classes: []Class{{K: k, Members: 1, Queries: 1}}, Hasher: g.Hasher}
	if m%(1<<wordGroup) == 0 {
		s.Group = wordGroup
	}
	return s, n, s.Check()
}
