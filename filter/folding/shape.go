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

// MaxK is the largest number of cells per key.
const MaxK = bloom.MaxK

// Shape contains the parameters that are fixed when a filter is made. M, K, Group and Hasher
// are those of the base: of a bloom.Shape or, with a Width, of a counting.Shape. The
// interval is stored as integers, so that all machines fold at the same time: see Keep.
type Shape struct {
	M      uint64 // cells of the base
	K      int    // cells set per key, 1 to MaxK
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
		return Shape{}, fmt.Errorf("folding: a rate of %v±%v, want an interval inside 0 to 1: %w", rate, tolerance, umbel.ErrGoal)
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

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
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
	size, _ := plan.FoldTarget(s.foldSizes(), n, s.K, (low+high)/2, (high-low)/2)
	return size
}

// Forecast returns what a filter of this shape costs, and its rate, after n keys were added.
// The rate is that of the folded filter; everything else describes the base. The folded
// filter takes one additional bit per cell of its own.
//
// The rate is an average over filters, which differ by chance: if n is close to the capacity
// of a size, some filters have grown beyond that size and some have not. It is computed as if a filter that is
// fuller than average were so by equally many standard deviations at every size. Folds of a few hundred cells deviate
// more independently, so that the forecast is wrong by about 2 % of the rate below 100 keys, in either direction
// (docs/papers.md, 000/self-folding, and TestForecastOfFewKeys). From 300 keys on no deviation was measured.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := s.bits().Forecast(n)
	if s.Width != 0 {
		fc = s.counters().Forecast(n)
	}
	fc.FPRate = s.meanRate(n)
	return fc
}

// meanRate returns the expected rate with n keys over the sizes that the folded filter may
// have. It takes the number of set bits as normally distributed with the variance of an
// occupancy, and its deviation in standard deviations as equal at all sizes, since cells
// that one fold joins are neighbors, which are close in another.
func (s Shape) meanRate(n uint64) float64 {
	const reach, steps = 4.0, 200 // deviations from the mean on each side
	sizes := s.occupancies(n)
	var all, rate float64
	for i := range steps {
		z := reach * (2*(float64(i)+0.5)/steps - 1)
		weight := math.Exp(-z * z / 2)
		all += weight
		for j, f := range sizes {
			if fill := f.mean + z*f.deviation; fill <= f.end || j == len(sizes)-1 {
				rate += weight * plan.FPRateAtFill(min(max(fill, 0), 1), s.K)
				break
			}
		}
	}
	return rate / all
}

// occupancy is the fill ratio of a folded filter of some size, and that at which it grows.
type occupancy struct{ mean, deviation, end float64 }

// occupancies returns the occupancies of all sizes with n keys: Johnson and Kotz 1977, for
// draws with repetition. It omits most sizes that are certainly too small.
func (s Shape) occupancies(n uint64) []occupancy {
	var all []occupancy
	for _, m := range s.foldSizes() {
		load := float64(s.K) * float64(n) / float64(m)
		empty := math.Exp(-load)
		o := occupancy{
			mean:      plan.Fill(m, s.K, n),
			deviation: math.Sqrt(max(0, empty*(1-(1+load)*empty)) / float64(m)),
			end:       float64(share(s.High, m)) / float64(m),
		}
		if o.mean-4*o.deviation > o.end {
			all = all[:0]
		}
		all = append(all, o)
	}
	return all
}
