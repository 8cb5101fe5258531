package folding

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// MaxK is the largest number of cells per key: that of package bloom.
const MaxK = bloom.MaxK

// Shape is what is fixed of a filter when it is made. M, K, Group and Hasher are those
// of the base, a bloom.Shape or, with a Width, a counting.Shape. The interval is
// stored as integers, so that no two machines disagree about when to fold: see Keep.
type Shape struct {
	M      uint64 // cells of the base
	K      int    // cells set per key, 1 to MaxK
	Width  uint   // bits of a counter of the base: 4, 8 or 16; 0 for a base of bits
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6
	Low    uint64 // fill of the face at the lower end of the interval, in 2^-64
	High   uint64 // at the upper end, above Low
	Hasher umbel.Hasher
}

// Plan returns the shape, with a base of bits, for up to so many keys at no more than
// the rate of the goal: that is the upper end of the interval. The other end is two
// thirds of it, the interval of Sailhan and Stehr with ρ = 5/6 of the rate and ε = ρ/5.
// The base is 12 times as large as all keys need, so that there is a size close to
// what fewer need: plan.BaseSize. It takes goals of keys and a rate; the error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	if err := g.Check(); err != nil {
		return Shape{}, err
	}
	s, _, err := planWith(g, nil)
	return s, err
}

// Keep returns the shape with the interval [rate-tolerance, rate+tolerance] for the
// rate of the face: ρ±ε of Sailhan and Stehr 2012. The error wraps umbel.ErrGoal
// unless tolerance is above 0 and below rate, and their sum below 1.
func (s Shape) Keep(rate, tolerance float64) (Shape, error) {
	if !(tolerance > 0 && tolerance < rate && rate+tolerance < 1) {
		return Shape{}, fmt.Errorf("folding: a rate of %v±%v, want an interval inside 0 to 1: %w", rate, tolerance, umbel.ErrGoal)
	}
	s.Low, s.High = s.fill(rate-tolerance), s.fill(rate+tolerance)
	return s, nil
}

// fill returns the fill at a rate below 1, in units of 2^-64.
func (s Shape) fill(rate float64) uint64 {
	x := math.Ldexp(math.Pow(rate, 1/float64(max(s.K, 1))), 64)
	if x >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(x)
}

// Interval returns the ends of the interval in which the rate of the face is kept.
func (s Shape) Interval() (low, high float64) {
	rate := func(fill uint64) float64 {
		return math.Pow(math.Ldexp(float64(fill), -64), float64(s.K))
	}
	return rate(s.Low), rate(s.High)
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	var err error
	if s.Width == 0 {
		err = s.bits().Check()
	} else {
		err = s.counters().Check()
	}
	if err != nil {
		return fmt.Errorf("folding: base: %w", err)
	}
	return s.checkInterval()
}

func (s Shape) checkInterval() error {
	if s.Low == 0 || s.Low >= s.High {
		low, high := s.Interval()
		return fmt.Errorf("folding: fills of %d to %d 2^-64ths, rates of %v to %v, are no interval above 0", s.Low, s.High, low, high)
	}
	return nil
}

// wantCounters returns an error that wraps umbel.ErrGoal unless the base is, or isn't,
// of counters.
func (s Shape) wantCounters(counters bool) error {
	switch {
	case counters && s.Width == 0:
		return fmt.Errorf("folding: a base of bits doesn't count: give a width, or take New: %w", umbel.ErrGoal)
	case !counters && s.Width != 0:
		return fmt.Errorf("folding: counters of %d bits: take NewCounting: %w", s.Width, umbel.ErrGoal)
	}
	return nil
}

func (s Shape) bits() bloom.Shape {
	return bloom.Shape{M: s.M, K: s.K, Group: s.Group, Hasher: s.Hasher}
}

func (s Shape) counters() counting.Shape {
	return counting.Shape{M: s.M, K: s.K, Width: s.Width, Group: s.Group, Hasher: s.Hasher}
}

// ladder returns the sizes that the face takes by itself.
func (s Shape) ladder() []uint64 {
	all := plan.FoldSizes(s.M, 1<<s.Group)
	for all[0] < s.M/MaxFold {
		all = all[1:]
	}
	return all
}

// New returns an empty filter of that shape, whose base is of bits: Width is 0. The
// error wraps umbel.ErrGoal if there can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.wantCounters(false); err != nil {
		return nil, err
	}
	return make1(s)
}

// make1 makes a filter with either base.
func make1(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var b base
	var err error
	if s.Width == 0 {
		b, err = bloom.NewShape(s.bits())
	} else {
		b, err = counting.NewShape(s.counters())
	}
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: s}
	f.stand(b)
	f.fold(f.ladder[0])
	return f, nil
}

// Shape returns the filter's shape. Its M is that of the base now, which a union may
// have folded.
func (f *Filter) Shape() Shape { return f.shape }
