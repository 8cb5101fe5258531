package sparse

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/internal/eliasfano"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

// maxM is the largest number of cells.
const maxM = eliasfano.MaxBound

// Shape is what is fixed of a filter when it is made. Its memory isn't: that follows
// from the keys.
type Shape struct {
	M      uint64 // cells that the filter stands for, 1 to 2^56, a multiple of 2^Group
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: from keys and rate, the least size; from
// keys and bytes, the largest, and so least rate, with which the keys fit; from rate and
// bytes, the size for the most keys that fit. Bytes are those of the state, and a rate
// is met with the fewest cells that do, rounded up as for kind bloom. The error wraps
// umbel.ErrGoal.
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
	case s.M == 0 || s.M > maxM:
		return fmt.Errorf("sparse: %d cells, want 1 to 2^56", s.M)
	case s.Group != 0 && s.Group != probe.WordLog:
		return fmt.Errorf("sparse: groups of 2^%d cells, want 2^0 or 2^%d", s.Group, probe.WordLog)
	case s.M%(1<<s.Group) != 0:
		return fmt.Errorf("sparse: %d cells aren't whole groups of %d", s.M, 1<<s.Group)
	}
	return s.Hasher.Check()
}

// Forecast tells what a filter of this shape is with n keys in it. Its bytes are what
// they take at most, each in a cell of its own; an empty filter has 8.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.FPRate(s.M, 1, n),
		Cells: s.M, Bytes: plan.SparseBits(s.M, n) / 8, K: 1,
	}
}

// New returns an empty filter of that shape. The error wraps umbel.ErrGoal if
// there can't be one.
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
