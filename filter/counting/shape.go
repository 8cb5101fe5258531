package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// MaxK is the largest number of counters per key: that of package bloom.
const MaxK = bloom.MaxK

// DefaultWidth is the number of bits of a counter where none is given. In a filter
// that is at most half full a counter comes to 16, which 4 bits don't hold, with a
// probability of at most 1.4e-15 (Fan et al. 2000, section V-C), and to 15, where it
// saturates, of at most 3.1e-14: plan.CounterOverflow.
const DefaultWidth = 4

// Shape is what is fixed of a filter when it is made. All but Width is that of a
// bloom.Shape and means the same.
type Shape struct {
	M      uint64 // cells (counters), at least 1, a multiple of 2^Group
	K      int    // positions of a key, 1 to MaxK
	Width  uint   // bits of a counter: 4, 8 or 16; 0 means 4
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6
	Hasher umbel.Hasher
}

// Plan returns the shape that meets the goal, with counters of 4 bits: from keys and
// rate, that of bloom.Plan; from bytes, as there with a quarter of the cells. The
// error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	s, _, err := planWith(g, nil)
	return s, err
}

// Bloom returns the shape of the filter's bloom view.
func (s Shape) Bloom() bloom.Shape {
	return bloom.Shape{M: s.M, K: s.K, Group: s.Group, Hasher: s.Hasher}
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error { return design.Wrap(s.made().check(), umbel.ErrGoal) }

// made returns s with its width filled in.
func (s Shape) made() Shape {
	if s.Width == 0 {
		s.Width = DefaultWidth
	}
	return s
}

func (s Shape) check() error {
	switch {
	case s.M == 0 || s.M > 1<<56:
		return fmt.Errorf("counting: %d cells, want 1 to 2^56", s.M)
	case s.K < 1 || s.K > MaxK:
		return fmt.Errorf("counting: %d cells per key, want 1 to %d", s.K, MaxK)
	case s.Width != 4 && s.Width != 8 && s.Width != 16:
		return fmt.Errorf("counting: counters of %d bits, want 4, 8 or 16", s.Width)
	case s.Group != 0 && s.Group != wordGroup:
		return fmt.Errorf("counting: groups of 2^%d cells, want 2^0 or 2^%d", s.Group, wordGroup)
	case s.M%(1<<s.Group) != 0:
		return fmt.Errorf("counting: %d cells aren't whole groups of %d", s.M, 1<<s.Group)
	}
	return s.Hasher.Check()
}

// Forecast tells what a filter of this shape is with n keys in it.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	s = s.made()
	fc := s.Bloom().Forecast(n)
	perWord := 64 / uint64(s.Width)
	fc.Bytes = (s.M + perWord - 1) / perWord * 8
	return fc
}

// New returns an empty filter of that shape. The error wraps umbel.ErrGoal if
// there can't be one.
func NewShape(s Shape) (*Filter, error) {
	s = s.made()
	if err := s.Check(); err != nil {
		return nil, err
	}
	a, err := cells.New(s.M, s.Width)
	if err != nil {
		return nil, fmt.Errorf("counting: %w: %w", err, umbel.ErrGoal)
	}
	f := &Filter{shape: s}
	f.hold(a)
	return f, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }
