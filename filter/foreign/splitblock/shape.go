package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ParquetHasher is the hasher of the filters in Parquet files, XXH64 without a seed. Keys are the bytes of a
// value's plain encoding. The zero hasher of a goal or a shape means XXH3-128, as for any kind, so set
// this one explicitly for Parquet.
var ParquetHasher = umbel.Hasher{Alg: umbel.XXH64}

// maxBlocks is the largest number of blocks, since half a hash chooses one. From a 64th of it on, some
// blocks are chosen noticeably more often than others.
const maxBlocks = 1 << 32

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M      uint64 // cells (bits), a multiple of 256, at most 256·2^32
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: for keys and rate, the least memory, rounded up by at most 1 %
// so that it folds well (plan.RoundFoldable); for bytes, the largest filter that fits. Sizes are whole blocks
// of 32 bytes. It returns an error wrapping umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) { return kinds.Plan(g, planWith) }

// checkGoal returns an error wrapping umbel.ErrGoal unless a filter can have the shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	if s.M == 0 || s.M%BlockBits != 0 || s.M/BlockBits > maxBlocks {
		return fmt.Errorf("splitblock: %d cells, want 1 to 2^32 whole blocks of %d", s.M, BlockBits)
	}
	return s.Hasher.Check()
}

// Forecast returns what a filter of this shape costs and its rate with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{Keys: n, FPRate: fpRate(s.M, n), Cells: s.M, Bytes: s.M / 8, K: K}
}

// NewShape returns an empty filter of shape s. It returns an error wrapping umbel.ErrGoal if the shape is
// impossible. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	bits, err := cells.New(s.M, 1)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "splitblock: %w", err)
	}
	return newFilter(bits, s.Hasher), nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return Shape{M: f.bits.Len, Hasher: f.hasher} }

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "Parquet's split-block filter, bit for bit with hash xxh64: one cache miss per query (Parquet's BloomFilter.md)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits), rounded up to whole blocks of 256", Min: 1, Max: maxBlocks * BlockBits},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  locator,
}.Kind()

var sizing = kinds.Sizing{
	MaxK:     K,
	Width:    1,
	Step:     func(int) uint64 { return BlockBits },
	Unit:     func(uint64, int) uint64 { return BlockBits },
	FPRate:   func(m uint64, _ int, n uint64) float64 { return fpRate(m, n) },
	SizeForK: func(n uint64, _ int, p float64) (uint64, error) { return size(n, p) },
}

// planWith is Plan with the size fixed unless m is zero; it also returns the number of keys that the shape is
// for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	m, _, n, err := sizing.Solve(g, ps.Uint("m"), K)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("splitblock: %w", err)
	}
	s := Shape{M: m, Hasher: g.Hasher}
	return s, n, s.checkGoal()
}
