package plan

import "math"

// BestK returns the number k of cells per key, at least 1, for which a filter of
// m cells with n distinct keys has the least [FPRate]; of two that are equally
// good, the smaller. It is one of the two whole numbers around
// ln 2 / (-n ln(1-1/m)), which is close to (m/n) ln 2: Bloom 1970; Broder
// and Mitzenmacher 2004. The result is at most 2^31-1. With no keys
// every k is equally good and the result is 1. It panics if m is zero.
func BestK(m, n uint64) int {
	mustShape(m, 1)
	if n == 0 {
		return 1
	}
	empty := float64(n) * math.Log1p(-1/float64(m)) // ln of the share of zero cells, per k
	real := math.Ln2 / -empty
	if real >= math.MaxInt32 {
		return math.MaxInt32
	}
	// The logarithm of the rate, since the rate itself can be less than any float64.
	logRate := func(k float64) float64 { return k * math.Log(-math.Expm1(k*empty)) }
	k := max(1, math.Floor(real))
	if logRate(k+1) < logRate(k) {
		k++
	}
	return int(min(k, math.MaxInt32))
}

// Size returns the least number m of cells for which some whole number of cells
// per key gives a rate of at most p with n distinct keys, as [FPRate] has it, and
// the least such k. There is no bound on k, which is close to log2(1/p); if the
// filter has one, call [SizeForK] with it.
//
// The error wraps [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func Size(n uint64, p float64) (m uint64, k int, err error) {
	return leastSize(n, p, 1, highestK(p), unitCell, plainRate(n))
}

// SizeForK returns the least number m of cells for which a filter that sets k
// cells per key has an [FPRate] of at most p with n distinct keys. It is
// 1/(1-(1-p^(1/k))^(1/(kn))), rounded up.
//
// The error wraps [ErrRange] if n is zero, k is less than 1, p is not inside
// (0, 1), or m would be above 2^63.
func SizeForK(n uint64, k int, p float64) (m uint64, err error) {
	if err := checkK(k); err != nil {
		return 0, err
	}
	m, _, err = leastSize(n, p, k, k, unitCell, plainRate(n))
	return m, err
}

// Capacity returns the largest number n of distinct keys for which a filter of m
// cells that sets k of them per key has an [FPRate] of at most p. It is zero if p
// is below the rate with one key, and 2^64-1 if p is at or above the rate with
// that many, so in particular if p is 1. It panics if m or k is zero or k is
// negative.
func Capacity(m uint64, k int, p float64) uint64 {
	mustShape(m, k)
	return mostKeys(func(n uint64) bool { return FPRate(m, k, n) <= p })
}

func unitCell(int) uint64 { return 1 }

func plainRate(n uint64) func(m uint64, k int) float64 {
	return func(m uint64, k int) float64 { return FPRate(m, k, n) }
}

// highestK returns the largest k that can give the least size at rate p. Without
// rounding the best k is log2(1/p), where half of the cells are zero.
func highestK(p float64) int {
	if !(p > 0 && p < 1) {
		return 1
	}
	return int(math.Ceil(-math.Log2(p))) + 1
}

// leastSize returns the least m, a multiple of unit(k) not above 2^63, such that
// rate(m, k) is at most p for a k from kLow to kHigh, and the least such k. The
// rate must not rise with m. For each k it bisects; so also where rounding makes
// the computed rate uneven, the next smaller multiple has a rate above p.
func leastSize(n uint64, p float64, kLow, kHigh int, unit func(k int) uint64, rate func(m uint64, k int) float64) (m uint64, k int, err error) {
	if err := checkGoal(n, p); err != nil {
		return 0, 0, err
	}
	below := uint64(maxCells) // m has to be at most this to be the best so far
	for try := kLow; try <= kHigh; try++ {
		u := unit(try)
		count, ok := least(below/u, func(count uint64) bool { return rate(count*u, try) <= p })
		if ok {
			m, k = count*u, try
			below = m - 1
		}
	}
	if m == 0 {
		return 0, 0, tooManyCells(n, p)
	}
	return m, k, nil
}
