package bloom

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

// MaxK is the largest number of cells per key.
const MaxK = 256

// wordGroup is the group of filters of some size: 2^6 cells, a word. Their folds
// and unions work on whole words.
const wordGroup = probe.WordLog

// groupedFrom is the size from which Plan rounds up to whole words, which then
// costs less than 1 % more.
const groupedFrom = 8192

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	M      uint64 // cells (bits), at least 1, a multiple of 2^Group
	K      int    // cells set per key, 1 to MaxK
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6
	Hasher umbel.Hasher
}

// Plan returns the smallest shape that meets the goal: from keys and rate, the
// least memory (over all k); from keys and bytes, the k with the least rate; from
// rate and bytes, the k with which the memory takes most keys. A size that isn't
// given is rounded up, by less than 1 %, to one that folds well (plan.Foldable). Shapes from 8192
// cells on are whole words. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error {
	switch {
	case s.M == 0 || s.M > 1<<56:
		return fmt.Errorf("bloom: %d cells, want 1 to 2^56: %w", s.M, umbel.ErrGoal)
	case s.K < 1 || s.K > MaxK:
		return fmt.Errorf("bloom: %d cells per key, want 1 to %d: %w", s.K, MaxK, umbel.ErrGoal)
	case s.Group != 0 && s.Group != wordGroup:
		return fmt.Errorf("bloom: groups of 2^%d cells, want 2^0 or 2^%d: %w", s.Group, wordGroup, umbel.ErrGoal)
	case s.M%(1<<s.Group) != 0:
		return fmt.Errorf("bloom: %d cells aren't whole groups of %d: %w", s.M, 1<<s.Group, umbel.ErrGoal)
	}
	return s.Hasher.Check()
}

// Forecast tells what a filter of this shape is with n keys in it.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.FPRate(s.M, s.K, n),
		Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: float64(s.K),
	}
}

// New returns an empty filter of that shape. The error wraps umbel.ErrGoal if
// there can't be one.
func New(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	a, err := cells.New(s.M, 1)
	if err != nil {
		return nil, fmt.Errorf("bloom: %w: %w", err, umbel.ErrGoal)
	}
	f := &Filter{shape: s}
	f.hold(a)
	return f, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }
