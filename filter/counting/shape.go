package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// maxK is the largest number of counters per key: that of package bloom.
const maxK = bloom.MaxK

// DefaultWidth is the default number of bits of a counter. In a filter that is at most
// half full, a counter reaches 15, where it saturates, with a probability of at most
// 3.1e-14 ([Shape.OverflowBound]), and 16, which 4 bits cannot hold, of at most
// 1.4e-15 (Fan et al. 2000, section V-C; [Shape.Overflow] has tighter bounds).
const DefaultWidth = 4

// Shape contains the parameters that are fixed when a filter is made. All fields except
// Width have the meaning of those of bloom.Shape.
type Shape struct {
	M      uint64 // cells (counters), at least 1, a multiple of 2^Group
	K      int    // positions of a key, 1 to maxK
	Width  uint   // bits of a counter: 4, 8 or 16; 0 means 4
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6; Plan chooses 6 for whole words, and only equal groups merge
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal, with counters of 4 bits: for keys and rate,
// that of bloom.Plan; for bytes, the same with a quarter of the cells. The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// Bloom returns the shape of the filter's view.
func (s Shape) Bloom() bloom.Shape {
	return bloom.Shape{M: s.M, K: s.K, Group: s.Group, Hasher: s.Hasher}
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) Check() error {
	err := arrays.Counting.Check(s.core())
	if err == nil {
		err = arrays.Counting.CheckWidth(s.withDefaults().Width)
	}
	return sentinel.Wrap(umbel.ErrGoal, err)
}

func (s Shape) core() arrays.Shape { return arrays.Shape(s.Bloom()) }

// withDefaults returns s with its width set.
func (s Shape) withDefaults() Shape {
	if s.Width == 0 {
		s.Width = DefaultWidth
	}
	return s
}

// Forecast returns what a filter of this shape costs, and its rate, with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := s.Bloom().Forecast(n)
	perWord := 64 / uint64(s.withDefaults().Width)
	fc.Bytes = (s.M + perWord - 1) / perWord * 8
	return fc
}

// planWith is Plan with parameters that override m, k and the width. It also returns the
// number of keys that the shape is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	width := arrays.RoundWidth(ps.Uint("width"))
	m, k, n, err := kinds.Anywhere(maxK, uint64(width)).Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("counting: %w", err)
	}
	s := Shape{M: m, K: k, Width: width, Group: arrays.GroupFor(m), Hasher: g.Hasher}
	return s, n, s.Check()
}

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "counting Bloom filter: removes and counts keys in 4 times the memory (Fan et al. 2000)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (counters)", Min: 1, Max: 1 << 56},
		{Name: "k", Doc: "counters per key", Min: 1, Max: maxK},
		{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16", Min: 4, Max: 16},
	},
	Plan:    planWith,
	New:     NewShape,
	Open:    Open,
	Locator: arrays.Counting.Locator,
}.Kind()
