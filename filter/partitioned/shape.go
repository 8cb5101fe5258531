package partitioned

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// MaxK is the largest number of slices.
const MaxK = 256

// wordGroup is the group of filters that Plan and Kind make with slices of a
// multiple of 2^6 cells: a word, so that their folds and unions work on whole words.
// Others have group 0.
const wordGroup = 6

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	M      uint64 // cells (bits), at least K, a multiple of K·2^Group
	K      int    // slices, and so cells set per key, 1 to MaxK
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: from keys and rate, the least memory
// over all k; from keys and bytes, the k with the least rate; from rate and bytes,
// the k with which the memory takes most keys. From 64 cells on slices are whole
// words; sizes that follow from keys and rate have up to 1 % more of them so that
// they fold well (plan.RoundFoldable). The error wraps umbel.ErrGoal.
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
	switch {
	case s.M == 0 || s.M > 1<<56:
		return fmt.Errorf("partitioned: %d cells, want 1 to 2^56", s.M)
	case s.K < 1 || s.K > MaxK:
		return fmt.Errorf("partitioned: %d slices, want 1 to %d", s.K, MaxK)
	case s.M%uint64(s.K) != 0:
		return fmt.Errorf("partitioned: %d cells don't make %d equal slices", s.M, s.K)
	case s.Group != 0 && s.Group != wordGroup:
		return fmt.Errorf("partitioned: groups of 2^%d cells, want 2^0 or 2^%d", s.Group, wordGroup)
	case s.slice()%(1<<s.Group) != 0:
		return fmt.Errorf("partitioned: slices of %d cells aren't whole groups of %d", s.slice(), 1<<s.Group)
	}
	return s.Hasher.Check()
}

// Forecast tells what a filter of this shape is with n keys in it.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.PartitionedFPRate(s.M, s.K, n),
		Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: float64(s.K),
	}
}

// slice returns the number of cells in a slice, groups that of its groups.
func (s Shape) slice() uint64  { return s.M / uint64(max(s.K, 1)) }
func (s Shape) groups() uint64 { return s.slice() >> s.Group }

// New returns an empty filter of that shape. The error wraps umbel.ErrGoal if
// there can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	a, err := cells.New(s.M, 1)
	if err != nil {
		return nil, fmt.Errorf("partitioned: %w: %w", err, umbel.ErrGoal)
	}
	f := &Filter{shape: s}
	f.hold(a)
	return f, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }
