package plan

import (
	"errors"
	"fmt"
	"math"
)

// ErrRange is wrapped by the errors of this package: a requirement is outside the range for
// which there is a filter. The text before it says which number it is, and what to change.
var ErrRange = errors.New("out of range")

// checkGoal returns an error wrapping ErrRange if n is zero or p is not inside (0, 1).
func checkGoal(n uint64, p float64) error {
	if n == 0 {
		return fmt.Errorf("plan: 0 keys, want at least 1; give the number of keys the filter will hold: %w", ErrRange)
	}
	if !(p > 0 && p < 1) {
		return fmt.Errorf("plan: false-positive rate %v, want more than 0 and less than 1; give a fraction, 0.01 for one percent: %w", p, ErrRange)
	}
	return nil
}

// checkK returns an error wrapping ErrRange if k is less than 1.
func checkK(k int) error {
	if k < 1 {
		return fmt.Errorf("plan: %d cells per key, want at least 1: %w", k, ErrRange)
	}
	return nil
}

// mustShape panics if no filter has m cells and sets k of them per key.
func mustShape(m uint64, k int) {
	if m == 0 || k < 1 {
		panic(fmt.Sprintf("plan: m=%d and k=%d, want both at least 1", m, k))
	}
}

// maxCells is the largest size that is planned, in cells.
const maxCells = 1 << 63

// tooManyCells returns the error for a size above maxCells.
func tooManyCells(n uint64, p float64) error {
	return fmt.Errorf("plan: %d keys at a false-positive rate of %v need more than 2^63 cells; "+
		"accept a higher rate, set more cells per key, or spread the keys over several filters: %w", n, p, ErrRange)
}

// least returns the smallest x in [1, high] for which ok holds, and whether there is one. If
// ok holds for x it must hold for all larger numbers. Where rounding violates that, ok still
// holds for the result and, unless the result is 1, not for the number before it.
func least(high uint64, ok func(x uint64) bool) (x uint64, found bool) {
	if high == 0 || !ok(high) {
		return 0, false
	}
	return bisect(0, high, ok), true
}

// leastNear is least for a caller that can guess the result: the better the guess, the
// faster. high is at most 2^63.
func leastNear(guess float64, high uint64, ok func(x uint64) bool) (x uint64, found bool) {
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

// mostKeys returns the largest n for which ok holds; it takes ok(0) as true.
func mostKeys(ok func(n uint64) bool) uint64 {
	over, found := least(math.MaxUint64, func(n uint64) bool { return !ok(n) })
	if !found {
		return math.MaxUint64
	}
	return over - 1
}

// crossing returns the x in [low, high] from which ok holds, to the precision of a float64 or
// of 100 halvings. It takes ok(low) as false and ok(high) as true.
func crossing(low, high float64, ok func(x float64) bool) float64 {
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
