package plan

import (
	"fmt"
	"math"
)

// tolerance is the relative error that is granted to a rate that is compared with
// the ends of an interval: a size whose rate is an end is in it.
const tolerance = 1e-12

// Interval returns the least and the largest number m of cells for which a filter
// that sets k cells per key and holds n distinct keys has an [FPRate] from p-eps to
// p+eps. The larger the size, the lower the rate:
//
//	1/(1-(1-(p+eps)^(1/k))^(1/(kn))) <= m <= 1/(1-(1-(p-eps)^(1/k))^(1/(kn)))
//
// the left side rounded up and the right side rounded down. With n=1000, k=2,
// p=0.02, eps=0.005 that is 11,621 to 15,308.
//
// The error wraps [ErrRange] if n is zero, k is less than 1, eps is negative, p-eps
// or p+eps is not inside (0, 1), a size would be above 2^63, or no whole number
// lies in the interval.
//
// Source: Sailhan and Stehr 2012, equation (14), which prints eps/(p+eps) in place
// of (p+eps)^(1/k), and so for p-eps. With the numbers above that gives 8963.3 <= m
// <= 4933.1, which no m satisfies.
func SizeInterval(n uint64, k int, p, eps float64) (low, high uint64, err error) {
	if err := checkBand(n, k, p, eps); err != nil {
		return 0, 0, err
	}
	rate := plainRate(n)
	low, okLow := least(maxCells, func(m uint64) bool { return rate(m, k) <= (p+eps)*(1+tolerance) })
	over, okHigh := least(maxCells, func(m uint64) bool { return rate(m, k) < (p-eps)*(1-tolerance) })
	if !okLow || !okHigh {
		return 0, 0, fmt.Errorf("plan: %d keys at a false-positive rate of %v±%v need more than 2^63 cells; "+
			"accept a higher rate or set more cells per key: %w", n, p, eps, ErrRange)
	}
	if high = over - 1; low > high {
		return 0, 0, fmt.Errorf("plan: no filter of %d keys and %d cells per key has a rate of %v±%v: "+
			"%d cells give %.7g and %d give %.7g; allow a wider interval: %w",
			n, k, p, eps, max(high, 1), rate(max(high, 1), k), low, rate(low, k), ErrRange)
	}
	return low, high, nil
}

// checkBand returns an error that wraps ErrRange unless there may be sizes whose
// rate is from p-eps to p+eps.
func checkBand(n uint64, k int, p, eps float64) error {
	if err := checkGoal(n, p); err != nil {
		return err
	}
	if err := checkK(k); err != nil {
		return err
	}
	switch {
	case !(eps >= 0):
		return fmt.Errorf("plan: a rate of %v±%v, want 0 or more after ±: %w", p, eps, ErrRange)
	case eps >= p:
		return fmt.Errorf("plan: a rate of %v±%v reaches down to 0, where no size is too large; give less than %v after ±: %w", p, eps, p, ErrRange)
	case p+eps >= 1 || math.IsInf(eps, 0):
		return fmt.Errorf("plan: a rate of %v±%v reaches up to 1, where no size is too small; give less than %v after ±: %w", p, eps, 1-p, ErrRange)
	}
	return nil
}
