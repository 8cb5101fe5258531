package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// ParquetHasher is the hasher of the filters in Parquet files, XXH64 without a
// seed. Keys are the bytes of a value's plain encoding. A goal or a shape with the
// zero hasher means XXH3-128, as with any kind: name this one where Parquet's
// bytes are wanted.
var ParquetHasher = umbel.Hasher{Alg: umbel.XXH64}

// MaxBlocks is the largest number of blocks: half a hash chooses one. From a
// 64th of it on, some blocks are chosen noticeably more often than others.
const MaxBlocks = 1 << 32

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	M      uint64 // cells (bits), a multiple of 256, at most 256·2^32
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: from keys and rate, the least memory,
// and up to 1 % more so that it folds well (plan.RoundFoldable); from bytes, what fits.
// Sizes are whole blocks of 32 bytes. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	if s.M == 0 || s.M%BlockBits != 0 || s.M/BlockBits > MaxBlocks {
		return fmt.Errorf("splitblock: %d cells, want 1 to 2^32 whole blocks of %d", s.M, BlockBits)
	}
	return s.Hasher.Check()
}

// Forecast tells what a filter of this shape is with n keys in it.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{Keys: n, FPRate: plan.SplitBlockFPRate(s.M, n), Cells: s.M, Bytes: s.M / 8, K: K}
}

// New returns an empty filter of that shape. The error wraps umbel.ErrGoal if
// there can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	bits, err := cells.New(s.M, 1)
	if err != nil {
		return nil, fmt.Errorf("splitblock: %w: %w", err, umbel.ErrGoal)
	}
	return made(bits, s.Hasher), nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return Shape{M: f.bits.Len, Hasher: f.hasher} }
