package squid

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// maxM is the largest number of cells: a mask of 256 MiB. A position is a number of 32 bits modulo m, so that
// low positions are more frequent than high ones, by a factor of up to 1 + 1/q with q = ⌊2^32/m⌋. Rates are
// planned without this difference, which is below 1 % up to 2^25 cells and zero if m is a power of two.
const maxM = 1 << 31

// unit is the number of cells in a byte of a mask. It divides m.
const unit = 8

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M      uint64 // cells (bits), a multiple of 8 from 8 to maxM
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal with four cells per key: for keys and rate, the least memory,
// rounded up by at most 1 % so that it folds well (plan.RoundFoldable); for bytes, the largest filter that
// fits. Sizes from 64 cells on are whole words. It returns an error wrapping umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// checkGoal returns an error wrapping umbel.ErrGoal unless a filter can have the shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	if s.M == 0 || s.M%unit != 0 || s.M > maxM {
		return fmt.Errorf("squid: %d cells, want a multiple of 8 from 8 to 2^31", s.M)
	}
	return s.Hasher.Check()
}

// Forecast returns what a filter of this shape costs and its rate with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{Keys: n, FPRate: plan.Filter{M: s.M, K: K}.FPRate(n), Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: K}
}

// NewShape returns an empty filter of shape s. It returns an error wrapping umbel.ErrGoal if the shape is
// impossible. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	bits, err := cells.New(s.M, 1)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "squid: %w", err)
	}
	return newFilter(bits, s.Hasher), nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return Shape{M: f.m, Hasher: f.hasher} }

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name:     Name,
	Doc:      "the filter of Squid's cache digests, bit for bit with hash md5: four cells per key (Squid, Cache Digest version 5)",
	Params:   []umbel.ParamDoc{{Name: "m", Doc: "cells (bits), rounded up to whole bytes", Min: 1, Max: maxM}},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  func(s umbel.State) (umbel.Locator, error) { return Open(s.WithoutWords()) },
}.Kind()

var sizing = kinds.Sizing{
	MaxK:  K,
	Width: 1,
	Step:  func(int) uint64 { return unit },
	Unit: func(m uint64, _ int) uint64 {
		if m < kinds.Word {
			return unit
		}
		return kinds.Word
	},
	FPRate:   func(m uint64, k int, n uint64) float64 { return plan.Filter{M: m, K: k}.FPRate(n) },
	SizeForK: plan.SizeForK,
}

// planWith is Plan with the size fixed unless m is zero; it also returns the number of keys that the shape is
// for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, _, n, err := sizing.Solve(g, ps.Uint("m"), K)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("squid: %w", err)
	}
	s := Shape{M: m, Hasher: g.Hasher}
	return s, n, s.checkGoal()
}
