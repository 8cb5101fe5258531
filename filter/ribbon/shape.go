package ribbon

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Shape is what is fixed of a filter when it is made. The number of keys isn't: the
// filter takes the memory that those it has need.
type Shape struct {
	// Steps fix the rate, in parts of 1/256 of a bit of the answer, 1 to 8192: 256 more
	// halve it. See plan.RibbonStepsFor.
	Steps  int
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal: from keys and rate, or from rate and
// bytes, the fewest steps with that rate; from keys and bytes, the most steps with which
// the keys take no more. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	if s.Steps < 1 || s.Steps > plan.RibbonMaxSteps {
		return fmt.Errorf("ribbon: %d steps, want 1 to %d", s.Steps, plan.RibbonMaxSteps)
	}
	return s.Hasher.Check()
}

// Forecast tells what a filter of this shape is when it is sealed with n keys in it. Its
// memory may then differ by a few slots in a thousand: see plan.RibbonSize. It panics if
// n is zero.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	bits, table := plan.RibbonSize(n, s.Steps), plan.RibbonShards(n)
	return umbel.Forecast{
		Keys: n, FPRate: plan.RibbonFPRate(n, s.Steps),
		Cells: bits - (table+1)/2*word + table, Bytes: bits / 8, K: s.k(),
	}
}

// k is the bits of the answer, the cells that a key costs, in the mean.
func (s Shape) k() float64 { return float64(s.Steps) / plan.RibbonSteps }

// New returns an empty filter of that shape. The error wraps umbel.ErrGoal if there
// can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Filter{shape: s}, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }
