package folding

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Face returns the size in cells of the face that n keys are expected to have: the
// smallest with a rate in the interval or below, and the base if there is none.
func (s Shape) FoldedSize(n uint64) uint64 {
	low, high := s.Interval()
	size, _ := plan.FoldTarget(s.ladder(), n, s.K, (low+high)/2, (high-low)/2)
	return size
}

// Forecast tells what a filter of this shape is after n keys were added to it: the
// rate is that of the face, all else is of the base. The face takes a bit for each of
// its cells besides.
//
// The rate is the mean over filters, of which each has its own luck. Where n keys
// are close to the end of what a size holds, some have grown beyond it and some
// haven't.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := s.bits().Forecast(n)
	if s.Width != 0 {
		fc = s.counters().Forecast(n)
	}
	fc.FPRate = s.meanRate(n)
	return fc
}

// meanRate returns the expectation of the rate with n keys over the sizes in which
// the face may be. Its cells that are set are taken as normally distributed, with the
// variance of an occupancy, and luck is taken to be the same at all sizes: what falls
// together in one fold are neighbours, which are close in another.
func (s Shape) meanRate(n uint64) float64 {
	const reach, steps = 4.0, 200 // deviations from the mean on each side
	faces := s.occupancies(n)
	var all, rate float64
	for i := range steps {
		z := reach * (2*(float64(i)+0.5)/steps - 1)
		weight := math.Exp(-z * z / 2)
		all += weight
		for j, f := range faces {
			if fill := f.mean + z*f.deviation; fill <= f.end || j == len(faces)-1 {
				rate += weight * plan.FPRateAtFill(min(max(fill, 0), 1), s.K)
				break
			}
		}
	}
	return rate / all
}

// occupancy is the fill of a face with some keys, and the fill at which it grows.
type occupancy struct{ mean, deviation, end float64 }

// occupancies returns those of the sizes of the ladder with n keys: Johnson and Kotz
// 1977, for draws with repetition. Of sizes that are surely too small it leaves out
// most.
func (s Shape) occupancies(n uint64) []occupancy {
	var all []occupancy
	for _, m := range s.ladder() {
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
