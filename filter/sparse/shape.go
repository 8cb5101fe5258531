package sparse

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// maxM is the largest number of cells.
const maxM = eliasfano.MaxBound

// Shape is the parameters that are fixed when a filter is made. The memory follows from the
// keys.
type Shape struct {
	M      uint64 // cells of the equivalent bloom filter, 1 to 2^56, a multiple of 2^Group
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6; Plan chooses 6 for whole words, and only equal groups merge
	Hasher umbel.Hasher
}

// Plan returns the shape that meets g: from keys and rate, the fewest cells; from keys and
// bytes, the most cells, and so the least rate, with which the keys fit; from rate and bytes,
// the cells for the most keys that fit. Bytes are those of the state. Cells are rounded up as
// for kind bloom. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// Check returns an error wrapping umbel.ErrGoal if no filter can have the shape.
func (s Shape) Check() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	switch {
	case s.M == 0 || s.M > maxM:
		return fmt.Errorf("sparse: %d cells, want 1 to 2^56", s.M)
	case s.Group != 0 && s.Group != probe.WordLog:
		return fmt.Errorf("sparse: groups of 2^%d cells, want 2^0 or 2^%d", s.Group, probe.WordLog)
	case s.M%(1<<s.Group) != 0:
		return fmt.Errorf("sparse: %d cells aren't whole groups of %d", s.M, 1<<s.Group)
	}
	return s.Hasher.Check()
}

// Forecast describes a filter of this shape with n keys. Bytes is the maximum, reached if no
// two keys share a cell; an empty filter has 8.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.Filter{M: s.M, K: 1}.FPRate(n),
		Cells: s.M, Bytes: listBits(s.M, n) / 8, K: 1,
	}
}

// NewShape returns an empty filter of shape s. The error wraps umbel.ErrGoal if no filter can
// have that shape.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	f := &Filter{shape: s}
	f.Clear()
	return f, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "Bloom filter with one cell per key, stored as a list of positions: small in messages and in memory (Mitzenmacher 2002; Elias 1974)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits) of the equivalent bloom filter", Min: 1, Max: maxM},
	},
	Plan: planWith,
	New:  NewShape,
	Open: Open,
}.Kind()

// sizing is that of kind bloom with k = 1.
var sizing = kinds.Anywhere(1, 1)

// planWith is Plan with parameters. It also returns the number of keys that the shape is
// planned for.
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
			return Shape{}, 0, sentinel.Wrap(umbel.ErrGoal, err)
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

// fit returns the keys and the cells of a goal with bytes: the most cells for the keys, or
// the most keys for the rate. The number of cells folds well (plan.RoundFoldable), which
// costs up to 1 % of the cells or keys.
func fit(g umbel.Goal) (n, m uint64, err error) {
	switch {
	case g.Keys != 0:
		m, err = mostCells(g.Keys, g.Bytes*8)
		unit := sizing.Unit(m, 1)
		groups := m / unit
		m = plan.RoundFoldable(groups-groups/128) * unit // it adds less than a 128th
		return g.Keys, m, err
	case g.FPRate != 0:
		return mostKeysIn(g.Bytes*8, g.FPRate, func(m uint64) uint64 {
			unit := sizing.Unit(m, 1)
			return plan.RoundFoldable((m+unit-1)/unit) * unit
		})
	}
	return 0, 0, fmt.Errorf("%d bytes alone don't determine the size: give the number of keys or a rate as well", g.Bytes)
}
