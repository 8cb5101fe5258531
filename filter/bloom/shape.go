package bloom

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/core"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// MaxK is the largest number of cells per key.
const MaxK = core.MaxK

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M      uint64 // cells (bits), at least 1, a multiple of 2^Group
	K      int    // cells set per key, 1 to MaxK
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: for keys and rate, the least memory over
// all k; for keys and bytes, the lowest rate; for rate and bytes, the largest number of
// keys. Sizes from 64 cells on are whole words, which need no more memory. A size that
// follows from keys and rate is up to 1 % larger so that it folds well
// (plan.RoundFoldable). The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	s, _, err := planWith(g, nil)
	return s, err
}

// planWith is Plan with parameters that override m and k. It also returns the number of
// keys that the shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, k, n, err := sizing.Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("bloom: %w", err)
	}
	s := Shape{M: m, K: k, Group: core.GroupFor(m), Hasher: g.Hasher}
	return s, n, s.Check()
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) Check() error { return design.Wrap(kind.Check(core.Shape(s)), umbel.ErrGoal) }

// Forecast returns what a filter of this shape costs, and its rate, with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.FPRate(s.M, s.K, n),
		Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: float64(s.K),
	}
}

var (
	kind   = core.Bloom
	sizing = design.Anywhere(MaxK, 1)
)

// Kind describes this kind to code that handles any kind.
var Kind umbel.Kind = newKind()

func newKind() umbel.Kind {
	return design.Kind[Shape, *Filter]{
		Name: Name,
		Doc:  "standard Bloom filter: least memory, up to k cache misses per query (Bloom 1970)",
		Params: []umbel.ParamDoc{
			{Name: "m", Doc: "cells (bits)", Min: 1, Max: 1 << 56},
			{Name: "k", Doc: "cells set per key", Min: 1, Max: MaxK},
		},
		Monotone: true,
		Plan:     planWith,
		New:      NewShape,
		Open:     Open,
	}.Kind()
}
