package sparse

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

// Kind is this kind for code that handles any.
var Kind = design.Kind[Shape, *Filter]{
	Name:   Name,
	Doc:    "Bloom filter of one cell per key, kept as a list of positions: small where cells are packed to be sent (Mitzenmacher 2002; Elias 1974)",
	Params: paramDocs,
	Plan:   planWith,
	New:    NewShape,
	Open:   Open,
}.Kind()

var paramDocs = []umbel.ParamDoc{
	{Name: "m", Doc: "cells (bits) that the filter stands for", Min: 1, Max: maxM},
}

// sizing is that of kind bloom with k = 1.
var sizing = design.Anywhere(1, 1)

// planWith is Plan with m given or not; it also returns the number of keys that the
// shape is for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	s, n, err := solve(g, ps.Uint("m"))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("sparse: %w", err)
	}
	s.Hasher = g.Hasher
	return s, n, s.Check()
}

func solve(g umbel.Goal, m uint64) (Shape, uint64, error) {
	if g.Bytes != 0 {
		if err := sizing.Check(g, m, 1); err != nil {
			return Shape{}, 0, err
		}
		var err error
		if g.Keys, m, err = fit(g); err != nil {
			return Shape{}, 0, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
		}
		g.Bytes = 0
	}
	m, _, n, err := sizing.Solve(g, m, 1)
	s := Shape{M: m}
	if m%(1<<probe.WordLog) == 0 {
		s.Group = probe.WordLog
	}
	return s, n, err
}

// fit returns the keys and the cells of a goal with bytes: the most cells for the keys,
// or else the most keys for the rate. Either way the cells are so many that they fold
// well (plan.RoundFoldable), which takes up to 1 % of them, or of the keys.
func fit(g umbel.Goal) (n, m uint64, err error) {
	switch {
	case g.Keys != 0:
		m, err = plan.SparseSize(g.Keys, g.Bytes*8)
		unit := sizing.Unit(m, 1)
		groups := m / unit
		m = plan.RoundFoldable(groups-groups/128) * unit // it adds less than a 128th
		return g.Keys, m, err
	case g.FPRate != 0:
		return plan.SparseCapacity(g.Bytes*8, g.FPRate, func(m uint64) uint64 {
			unit := sizing.Unit(m, 1)
			return plan.RoundFoldable((m+unit-1)/unit) * unit
		})
	}
	return 0, 0, fmt.Errorf("%d bytes alone don't tell the size: give the number of keys or a rate as well", g.Bytes)
}
