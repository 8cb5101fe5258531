package scalable

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// firstRate returns P_0, the rate of the first layer of a scalable filter that has a rate
// of at most p however much it grows, with a tightening ratio r. It is p(1-r), since the sum of
// all P_0·r^i is P_0/(1-r) and the compound rate is less than the sum (Almeida et al. 2007,
// section 3). It returns an error wrapping [plan.ErrRange] if p or r is not inside (0, 1).
func firstRate(p, r float64) (float64, error) {
	if err := planning.CheckGoal(1, p); err != nil {
		return 0, err
	}
	if !(r > 0 && r < 1) {
		return 0, sentinel.Errorf(plan.ErrRange, "tightening %v, want more than 0 and less than 1", r)
	}
	return p * (1 - r), nil
}

// halfFull returns the largest number of keys with which at most half of a slice of `slice`
// cells is expected to be set: ln(1/2)/ln(1-1/slice) rounded down, and at least 1. At this fill
// ratio a slice takes the most keys for its size, according to Almeida et al. 2007. It panics if
// slice is zero.
func halfFull(slice uint64) uint64 {
	planning.MustShape(slice, 1)
	return max(1, uint64(-math.Ln2/math.Log1p(-1/float64(slice))))
}
