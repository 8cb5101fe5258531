package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Interval is the rate that folded filters keep, whatever the number of their keys: with K cells per key,
// from FPRate-Eps to FPRate+Eps, by the formula for independent cells, (1-(1-1/m)^(kn))^k.
// Source: Sailhan and Stehr 2012, section III, which call the two ρ and ε.
type Interval struct {
	K           int     // cells set per key, at least 1
	FPRate, Eps float64 // FPRate±Eps lies inside (0, 1)
}

// tolerance is the relative error that is allowed when a rate is compared with the ends of an
// interval: a size whose rate equals an end is inside.
const tolerance = 1e-12

// Sizes returns the smallest and the largest number m of cells for which a Bloom filter that contains n
// distinct keys has a rate in the interval:
//
//	1/(1-(1-(p+eps)^(1/k))^(1/(kn))) <= m <= 1/(1-(1-(p-eps)^(1/k))^(1/(kn)))
//
// The left side is rounded up and the right side down. With n=1000, k=2, p=0.02, eps=0.005 that
// is 11,621 to 15,308.
//
// It returns an error wrapping [ErrRange] if n is zero, a field is outside its range, a size would be above
// 2^63, or the interval contains no whole number.
//
// Source: Sailhan and Stehr 2012, equation (14), which prints eps/(p+eps) instead of
// (p+eps)^(1/k), and correspondingly for p-eps. With the numbers above that gives
// 8963.3 <= m <= 4933.1, which no m satisfies.
func (i Interval) Sizes(n uint64) (low, high uint64, err error) {
	if err := i.check(n); err != nil {
		return 0, 0, err
	}
	k, p, eps := i.K, i.FPRate, i.Eps
	rate := func(m uint64) float64 { return Filter{m, k}.independentRate(n) }
	low, okLow := planning.Least(planning.MaxCells, func(m uint64) bool { return rate(m) <= (p+eps)*(1+tolerance) })
	over, okHigh := planning.Least(planning.MaxCells, func(m uint64) bool { return rate(m) < (p-eps)*(1-tolerance) })
	if !okLow || !okHigh {
		return 0, 0, sentinel.Errorf(ErrRange, "%d keys at a false-positive rate of %v±%v need more than 2^63 cells; "+
			"accept a higher rate or set more cells per key", n, p, eps)
	}
	if high = over - 1; low > high {
		return 0, 0, sentinel.Errorf(ErrRange, "no filter of %d keys and %d cells per key has a rate of %v±%v: "+
			"%d cells give %.7g and %d give %.7g; allow a wider interval",
			n, k, p, eps, max(high, 1), rate(max(high, 1)), low, rate(low))
	}
	return low, high, nil
}

// check returns an error wrapping ErrRange unless some sizes may have a rate in the interval with n keys.
func (i Interval) check(n uint64) error {
	p, eps := i.FPRate, i.Eps
	if err := planning.CheckGoal(n, p); err != nil {
		return err
	}
	if err := planning.CheckK(i.K); err != nil {
		return err
	}
	switch {
	case !(eps >= 0):
		return sentinel.Errorf(ErrRange, "a rate of %v±%v, want a deviation of 0 or more", p, eps)
	case eps >= p:
		return sentinel.Errorf(ErrRange, "a rate of %v±%v includes 0, for which no size is too large; give a deviation below %v", p, eps, p)
	case p+eps >= 1 || math.IsInf(eps, 0):
		return sentinel.Errorf(ErrRange, "a rate of %v±%v includes 1, for which no size is too small; give a deviation below %.6g", p, eps, 1-p)
	}
	return nil
}

// DefaultOversize is the ratio of the size of a base to the size that its keys need, if the
// caller gives none.
const DefaultOversize = 12

// WholeWordsFrom is the size in cells from which [Interval.Base] returns whole words, to be folded
// by whole words. A smaller base has too few words for that: 131,040 cells fold to 144 sizes
// cell by cell, the 1980 words of 126,720 cells only to 36.
const WholeWordsFrom = 1 << 20

// Base returns the number of cells of a base: a filter for up to n distinct keys that folds to sizes at
// which its rate stays in the interval while it contains fewer keys. The base is oversize times as large as
// a size that [Interval.Sizes] allows for n keys, and at most 1.5 times oversize times the smallest of them. In that range it is the size
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
// It returns an error wrapping [ErrRange] if Sizes does, if oversize is neither 0 nor at
// least 1, or if the size would be above 2^63.
//
// Source: Sailhan and Stehr 2012, section IV: most divisors, without oversize.
func (i Interval) Base(n uint64, oversize float64) (m uint64, err error) {
	low, high, err := i.Sizes(n)
	if err != nil {
		return 0, err
	}
	if oversize == 0 {
		oversize = DefaultOversize
	}
	if !(oversize >= 1) {
		return 0, sentinel.Errorf(ErrRange, "a base %v times as large as its keys need, want 1 or more, or 0 for %d", oversize, DefaultOversize)
	}
	lowest := math.Ceil(float64(low) * oversize)
	if lowest > planning.MaxCells {
		return 0, sentinel.Errorf(ErrRange,
			"a base %v times as large as %d keys need has more than 2^63 cells; accept a smaller one or a higher rate", oversize, n)
	}
	// A wide interval would only make the base larger than requested.
	highest := math.Floor(min(float64(high)*oversize, lowest*1.5, planning.MaxCells))
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

// Target returns the size to fold to with n distinct keys: the smallest of sizes, as [FoldSizes] returns
// them, with a rate of at most FPRate+Eps. inside reports whether that rate is also at least
// FPRate-Eps, so that the rate is in the interval. If no size is large enough, Target returns the
// largest and false. Without keys it returns the smallest. It panics if sizes is empty or K is less than 1;
// FPRate and Eps may be any numbers. It doesn't allocate.
//
// Source: Sailhan and Stehr 2012, section IV-C, which requires a divisor inside the interval and
// doesn't say what to do without one.
func (i Interval) Target(sizes []uint64, n uint64) (size uint64, inside bool) {
	if len(sizes) == 0 {
		panic(fmt.Sprintf("plan: no sizes to fold to for %d keys", n))
	}
	rate := func(m uint64) float64 { return Filter{m, i.K}.independentRate(n) }
	at := sort.Search(len(sizes), func(at int) bool { return rate(sizes[at]) <= (i.FPRate+i.Eps)*(1+tolerance) })
	if at == len(sizes) {
		return sizes[at-1], false
	}
	return sizes[at], rate(sizes[at]) >= (i.FPRate-i.Eps)*(1-tolerance)
}
