package planning

import (
	"math"
	"math/bits"
)

// Least returns the smallest x in [1, high] for which ok holds, and whether there is one. If
// ok holds for x it must hold for all larger numbers. Where rounding violates that, ok still
// holds for the result and, unless the result is 1, not for the number before it.
func Least(high uint64, ok func(x uint64) bool) (x uint64, found bool) {
	if high == 0 || !ok(high) {
		return 0, false
	}
	return bisect(0, high, ok), true
}

// LeastNear is Least for a caller that can guess the result: the better the guess, the
// faster. high is at most 2^63.
func LeastNear(guess float64, high uint64, ok func(x uint64) bool) (x uint64, found bool) {
	x = high
	if guess < float64(high) {
		x = max(1, uint64(guess))
	}
	below := uint64(0)
	for !ok(x) {
		if x == high {
			return 0, false
		}
		below, x = x, min(2*x, high)
	}
	if below == 0 {
		for below = x / 2; below > 0 && ok(below); below /= 2 {
			x = below
		}
	}
	return bisect(below, x, ok), true
}

// bisect returns an x in (low, high] for which ok holds and before which it doesn't. It takes
// ok(low) as false and ok(high) as true.
func bisect(low, high uint64, ok func(x uint64) bool) uint64 {
	for high-low > 1 {
		mid := low + (high-low)/2
		if ok(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// Most returns the largest x up to high for which ok holds. It takes ok(0) as true. If ok doesn't hold for
// x, it must not hold for any larger number.
func Most(high uint64, ok func(x uint64) bool) uint64 {
	over, found := Least(high, func(x uint64) bool { return !ok(x) })
	if !found {
		return high
	}
	return over - 1
}

// Crossing returns the x in [low, high] from which ok holds, to the precision of a float64 or
// of 100 halvings. It takes ok(low) as false and ok(high) as true.
func Crossing(low, high float64, ok func(x float64) bool) float64 {
	for range 100 {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if ok(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// HighestK returns the largest k that can give the smallest size at rate p. Without rounding
// the best k is log2(1/p), where half of the cells are zero.
func HighestK(p float64) int {
	if !(p > 0 && p < 1) {
		return 1
	}
	return int(math.Ceil(-math.Log2(p))) + 1
}

// LeastSize returns the smallest m, a multiple of unit(k) and at most MaxCells, such that
// rate(m, k) is at most p for a k from kLow to kHigh, and the smallest such k. n is the number of keys of
// the rate. The rate must not rise with m. Even where rounding makes the computed rate uneven, the next
// smaller multiple has a rate above p.
//
// It returns an error wrapping ErrRange if n is zero, p is not inside (0, 1), or m would be above MaxCells.
func LeastSize(n uint64, p float64, kLow, kHigh int, unit func(k int) uint64, rate func(m uint64, k int) float64) (m uint64, k int, err error) {
	if err := CheckGoal(n, p); err != nil {
		return 0, 0, err
	}
	below := uint64(MaxCells) // a better m is at most this
	for try := kLow; try <= kHigh; try++ {
		u := unit(try)
		count, ok := Least(below/u, func(count uint64) bool { return rate(count*u, try) <= p })
		if ok {
			m, k = count*u, try
			below = m - 1
		}
	}
	if m == 0 {
		return 0, 0, TooManyCells(n, p)
	}
	return m, k, nil
}

// PowerOfTwo returns the power of two that is next to m, at least m if up and otherwise at most m. It returns m
// if that is 0, or if up and m is above 2^63.
func PowerOfTwo(m uint64, up bool) uint64 {
	if m == 0 || up && m > 1<<63 {
		return m
	}
	if up {
		m = 2*m - 1
	}
	return 1 << (bits.Len64(m) - 1)
}
