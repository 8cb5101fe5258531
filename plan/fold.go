package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// tolerance is the relative error that is allowed when a rate is compared with the ends of an
// interval: a size whose rate equals an end is inside.
const tolerance = 1e-12

// SizeInterval returns the smallest and the largest number m of cells for which a Bloom filter
// that sets k cells per key and contains n distinct keys has a rate from p-eps to p+eps by the
// formula for independent cells, (1-(1-1/m)^(kn))^k:
//
//	1/(1-(1-(p+eps)^(1/k))^(1/(kn))) <= m <= 1/(1-(1-(p-eps)^(1/k))^(1/(kn)))
//
// The left side is rounded up and the right side down. With n=1000, k=2, p=0.02, eps=0.005 that
// is 11,621 to 15,308.
//
// It returns an error wrapping [ErrRange] if n is zero, k is less than 1, eps is negative, p-eps
// or p+eps is not inside (0, 1), a size would be above 2^63, or the interval contains no whole
// number.
//
// Source: Sailhan and Stehr 2012, equation (14), which prints eps/(p+eps) instead of
// (p+eps)^(1/k), and correspondingly for p-eps. With the numbers above that gives
// 8963.3 <= m <= 4933.1, which no m satisfies.
func SizeInterval(n uint64, k int, p, eps float64) (low, high uint64, err error) {
	if err := checkBand(n, k, p, eps); err != nil {
		return 0, 0, err
	}
	rate := func(m uint64, k int) float64 { return independentRate(m, k, n) }
	low, okLow := least(maxCells, func(m uint64) bool { return rate(m, k) <= (p+eps)*(1+tolerance) })
	over, okHigh := least(maxCells, func(m uint64) bool { return rate(m, k) < (p-eps)*(1-tolerance) })
	if !okLow || !okHigh {
		return 0, 0, sentinel.Errorf(ErrRange, "plan: %d keys at a false-positive rate of %v±%v need more than 2^63 cells; "+
			"accept a higher rate or set more cells per key", n, p, eps)
	}
	if high = over - 1; low > high {
		return 0, 0, sentinel.Errorf(ErrRange, "plan: no filter of %d keys and %d cells per key has a rate of %v±%v: "+
			"%d cells give %.7g and %d give %.7g; allow a wider interval",
			n, k, p, eps, max(high, 1), rate(max(high, 1), k), low, rate(low, k))
	}
	return low, high, nil
}

// checkBand returns an error wrapping ErrRange unless some sizes may have a rate from p-eps to
// p+eps.
func checkBand(n uint64, k int, p, eps float64) error {
	if err := checkGoal(n, p); err != nil {
		return err
	}
	if err := checkK(k); err != nil {
		return err
	}
	switch {
	case !(eps >= 0):
		return sentinel.Errorf(ErrRange, "plan: a rate of %v±%v, want a deviation of 0 or more", p, eps)
	case eps >= p:
		return sentinel.Errorf(ErrRange, "plan: a rate of %v±%v includes 0, for which no size is too large; give a deviation below %v", p, eps, p)
	case p+eps >= 1 || math.IsInf(eps, 0):
		return sentinel.Errorf(ErrRange, "plan: a rate of %v±%v includes 1, for which no size is too small; give a deviation below %.6g", p, eps, 1-p)
	}
	return nil
}

// DefaultOversize is the ratio of the size of a base to the size that its keys need, if the
// caller gives none.
const DefaultOversize = 12

// WholeWordsFrom is the size in cells from which [BaseSize] returns whole words, to be folded
// by whole words. A smaller base has too few words for that: 131,040 cells fold to 144 sizes
// cell by cell, the 1980 words of 126,720 cells only to 36.
const WholeWordsFrom = 1 << 20

// BaseSize returns the number of cells of a base: a filter for up to n distinct keys with k
// cells per key that folds to sizes at which its rate stays from p-eps to p+eps while it
// contains fewer keys. The base is oversize times as large as a size in [SizeInterval] for n
// keys, and at most 1.5 times oversize times the smallest of them. In that range it is the size
// with the most divisors, and the smallest such size.
//
// From [WholeWordsFrom] cells on the base is a multiple of 64 with the most divisors of its
// number of words, since folds then keep words together: its fold sizes are FoldSizes(m, 64),
// and FoldSizes(m, 1) below.
//
// An oversize of 0 means [DefaultOversize]. A base of oversize 1 folds only to its half, its
// third and so on; with 12 it has divisors close to every size. For n=1000, k=4, p=0.01,
// eps=0.002 and all numbers of keys up to n, a divisor is inside the interval for 41 % of them
// with oversize 1, and folds are 26 % too large on average; with 12 these are 99 % and 4 %.
//
// It returns an error wrapping [ErrRange] if SizeInterval does, if oversize is neither 0 nor at
// least 1, or if the size would be above 2^63.
//
// Source: Sailhan and Stehr 2012, section IV: most divisors, without oversize.
func BaseSize(n uint64, k int, p, eps float64, oversize float64) (m uint64, err error) {
	low, high, err := SizeInterval(n, k, p, eps)
	if err != nil {
		return 0, err
	}
	if oversize == 0 {
		oversize = DefaultOversize
	}
	if !(oversize >= 1) {
		return 0, sentinel.Errorf(ErrRange, "plan: a base %v times as large as its keys need, want 1 or more, or 0 for %d", oversize, DefaultOversize)
	}
	lowest := math.Ceil(float64(low) * oversize)
	if lowest > maxCells {
		return 0, sentinel.Errorf(ErrRange, "plan: a base %v times as large as %d keys need has more than 2^63 cells; accept a smaller one or a higher rate", oversize, n)
	}
	// A wide interval would only make the base larger than requested.
	highest := math.Floor(min(float64(high)*oversize, lowest*1.5, maxCells))
	unit := uint64(1)
	if lowest >= WholeWordsFrom {
		unit = 64
	} else {
		highest = min(highest, WholeWordsFrom-1)
	}
	// A narrow interval may lie between two whole numbers of words: use the next one.
	first := (uint64(lowest) + unit - 1) / unit
	groups, _ := number.MostDivisors(first, max(first, uint64(highest)/unit))
	return groups * unit, nil
}

// largestUnit is the largest highly composite number that is used as a unit of size.
const largestUnit = 720720

// RoundFoldable rounds groups up to a number that folds well: a multiple of the largest highly
// composite number that is at most groups/128. The result is less than 1 % larger, 0.4 % on
// average, and folds by every divisor of that number: 15,639 groups, which fold by 3, 13, 39
// and 401, become 15,720, which fold by every divisor of 120. Numbers below 256 or above 2^63
// are returned unchanged.
//
// Sailhan and Stehr 2012, section IV, choose among largely composite and smooth numbers for the
// same purpose.
func RoundFoldable(groups uint64) uint64 {
	if groups < 256 || groups > 1<<63 {
		return groups
	}
	units := number.HighlyComposite(min(groups/128, largestUnit))
	unit := units[len(units)-1]
	return (groups + unit - 1) / unit * unit
}

// FoldSizes returns the sizes to which a filter of m cells can be folded, in ascending order and
// with m as the last: all divisors of m that are multiples of unit, the number of cells that
// stay together in a fold (1, a word, a block). It returns none if unit is 0 or doesn't divide
// m, or m is 0. A fold to size s is by the factor m/s.
func FoldSizes(m, unit uint64) []uint64 {
	if unit == 0 || m%unit != 0 {
		return nil
	}
	sizes := number.Divisors(m / unit)
	for i := range sizes {
		sizes[i] *= unit
	}
	return sizes
}

// FoldTarget returns the size to fold to with n distinct keys and k cells per key: the smallest
// of sizes, as [FoldSizes] returns them, with a rate of at most p+eps by the formula of
// SizeInterval. inside reports whether that rate is also at least p-eps, so that the size is in the [SizeInterval]. If no
// size is large enough, FoldTarget returns the largest and false. Without keys it returns the
// smallest. It panics if sizes is empty or k is less than 1; p and eps may be any numbers. It
// doesn't allocate.
//
// Source: Sailhan and Stehr 2012, section IV-C, which requires a divisor inside the interval and
// doesn't say what to do without one.
func FoldTarget(sizes []uint64, n uint64, k int, p, eps float64) (size uint64, inside bool) {
	if len(sizes) == 0 {
		panic(fmt.Sprintf("plan: no sizes to fold to for %d keys", n))
	}
	i := sort.Search(len(sizes), func(i int) bool { return independentRate(sizes[i], k, n) <= (p+eps)*(1+tolerance) })
	if i == len(sizes) {
		return sizes[i-1], false
	}
	return sizes[i], independentRate(sizes[i], k, n) >= (p-eps)*(1-tolerance)
}

// MeanOvershoot returns the mean overshoot of folds to sizes, as a fraction: the smallest size
// that is at least s, divided by s, less 1, averaged over ln s from a thousandth of the largest
// size, or from 1, up to the largest. The divisors of 2^20 give 0.44, those of 720,720 give
// 0.095. It panics if sizes is empty.
func MeanOvershoot(sizes []uint64) float64 {
	if len(sizes) == 0 {
		panic("plan: no sizes to fold to")
	}
	top := float64(sizes[len(sizes)-1])
	if top == 1 {
		return 0
	}
	bottom := max(top/1000, 1)
	below, sum := bottom, 0.0
	for _, size := range sizes {
		if s := float64(size); s > below {
			// The integral of s/x - 1 over ln x from below to s.
			sum += s/below - 1 - math.Log(s/below)
			below = s
		}
	}
	return sum / math.Log(top/bottom)
}
