package folding

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// maxK is the largest number of cells per key.
const maxK = bloom.MaxK

// Shape contains the parameters that are fixed when a filter is made. M, K, Group and Hasher
// are those of the base: of a bloom.Shape or, with a Width, of a counting.Shape. The
// interval is stored as integers, so that all machines fold at the same time: see Keep.
type Shape struct {
	M      uint64 // cells of the base
	K      int    // cells set per key, 1 to maxK
	Width  uint   // bits of a counter of the base: 4, 8 or 16; 0 for a base of bits
	Group  uint8  // log2 of the cells that stay together in a fold: 0 or 6; Plan chooses 6 for whole words, and only equal groups merge
	Low    uint64 // fill ratio of the folded filter at the lower end of the interval, in 2^-64
	High   uint64 // at the upper end, above Low
	Hasher umbel.Hasher
}

// Keep returns the shape with the interval [rate-tolerance, rate+tolerance] for the rate of
// the folded filter: ρ±ε of Sailhan and Stehr 2012. The error wraps umbel.ErrGoal unless
// tolerance is above 0 and below rate, and their sum below 1.
func (s Shape) Keep(rate, tolerance float64) (Shape, error) {
	if !(tolerance > 0 && tolerance < rate && rate+tolerance < 1) {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "folding: a rate of %v±%v, want an interval inside 0 to 1", rate, tolerance)
	}
	s.Low, s.High = s.fill(rate-tolerance), s.fill(rate+tolerance)
	return s, nil
}

// fill returns the fill ratio for a rate below 1, in units of 2^-64.
func (s Shape) fill(rate float64) uint64 {
	x := math.Ldexp(math.Pow(rate, 1/float64(max(s.K, 1))), 64)
	if x >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(x)
}

// Interval returns the ends of the interval in which the rate of the folded filter is kept.
func (s Shape) Interval() (low, high float64) {
	rate := func(fill uint64) float64 {
		return math.Pow(math.Ldexp(float64(fill), -64), float64(s.K))
	}
	return rate(s.Low), rate(s.High)
}

// checkGoal returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

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
		return fmt.Errorf("folding: fill ratios from %d to %d in units of 2^-64, rates from %v to %v, want an interval above 0", s.Low, s.High, low, high)
	}
	return nil
}

// bits returns the shape of a base of bits.
func (s Shape) bits() bloom.Shape {
	return bloom.Shape{M: s.M, K: s.K, Group: s.Group, Hasher: s.Hasher}
}

// counters returns the shape of a base of counters.
func (s Shape) counters() counting.Shape {
	return counting.Shape{M: s.M, K: s.K, Width: s.Width, Group: s.Group, Hasher: s.Hasher}
}

// foldSizes returns the sizes of the folded filter, ascending.
func (s Shape) foldSizes() []uint64 {
	sizes := plan.FoldSizes(s.M, 1<<s.Group)
	for sizes[0] < s.M/MaxFold {
		sizes = sizes[1:]
	}
	return sizes
}

// FoldedSize returns the expected size in cells of the folded filter with n keys: the
// smallest with a rate in the interval or below, and that of the base if there is none.
func (s Shape) FoldedSize(n uint64) uint64 {
	low, high := s.Interval()
	size, _ := plan.Interval{K: s.K, FPRate: (low + high) / 2, Eps: (high - low) / 2}.Target(s.foldSizes(), n)
	return size
}

// Forecast returns what a filter of this shape costs, and its rate, after n keys were added.
// The rate is that of the folded filter; everything else describes the base. The folded
// filter takes one additional bit per cell of its own.
//
// The rate is an average over filters, which differ by chance: if n is close to the capacity
// of a size, some filters have grown beyond that size and some have not: see foldedFPRate. Up to 256 cells set,
// it is within 4 % of the rate; from there it is too high or too low by about 2 % below 100 keys (docs/papers.md,
// 000/self-folding, and TestForecastOfFewKeys). From 300 keys on no deviation was measured.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := s.bits().Forecast(n)
	if s.Width != 0 {
		fc = s.counters().Forecast(n)
	}
	sizes := s.foldSizes()
	most := make([]uint64, len(sizes))
	for i, m := range sizes {
		most[i] = share(s.High, m)
	}
	fc.FPRate = foldedFPRate(sizes, most, s.K, n)
	return fc
}
