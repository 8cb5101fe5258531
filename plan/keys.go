package plan

import (
	"fmt"
	"math"
)

// Estimate is an estimated number of distinct keys, and the interval in which the
// true number is with a confidence of about 95 percent. All three are real
// numbers, at least 0, and +Inf where the filter sets no bound. Low <= Value <=
// High, unless Value is NaN, which means that nothing but the bounds is known.
type Estimate struct {
	Value, Low, High float64
}

// String returns the value and the bounds, in that order, rounded to whole keys.
func (e Estimate) String() string {
	return fmt.Sprintf("%.0f [%.0f, %.0f]", e.Value, e.Low, e.High)
}

// sigmas95 is the half-width of the central 95 percent of a normal distribution, in
// standard deviations.
const sigmas95 = 1.959963984540054

// Keys returns an estimate of the number n of distinct keys in a filter of m
// cells, k set per key, of which ones are not zero: -(m/k) ln(1-ones/m). It is
// +Inf if the filter is full, that is, if ones is at least m. It panics if m or k
// is zero or k is negative.
//
// Source: Swamidass and Baldi 2007. Papapetrou, Siberski and Nejdl
// 2010 divide by k ln(1-1/m) in place of -k/m, which undoes [Fill] to the letter;
// the two differ by the factor 1-1/(2m), which is 0.8 percent at m=64 and less
// than the standard deviation at every size.
//
// The same formula serves partitioned filters and, with k=8, split block filters:
// their fill is 1-e^(-kn/m) too. In a blocked filter of blocks of b bits keys of
// one block share bits more often, and Keys is too low by about (k-1)/(2b) of
// itself, 0.6 percent with k=7 and b=512.
func Keys(m uint64, k int, ones uint64) float64 {
	mustShape(m, k)
	return keysAt(float64(m), float64(k), float64(ones))
}

// keysAt is Keys on real numbers.
func keysAt(m, k, ones float64) float64 {
	if ones >= m {
		return math.Inf(1)
	}
	if ones == 0 {
		return 0
	}
	return -m / k * math.Log1p(-ones/m)
}

// KeysInterval returns [Keys] and the interval that holds the true number of
// distinct keys with a confidence of about 95 percent. It panics if m or k is
// zero or k is negative.
//
// The interval has the numbers n of keys for which ones, give or take half a
// cell, is within 1.96 standard deviations of its mean; mean and variance are
// those of the occupancy of m cells after kn draws (Johnson and Kotz 1977, Urn
// Models, chapter 3), at n and not at the estimate. Low is never below ones/k,
// since a key sets at most k cells. For an empty filter all three numbers are 0;
// for a full one Value and High are +Inf, and Low is where few cells remain.
func KeysInterval(m uint64, k int, ones uint64) Estimate {
	mustShape(m, k)
	M, K, X := float64(m), float64(k), float64(min(ones, m))
	if ones == 0 {
		return Estimate{}
	}
	// bound returns the n for which mean + z standard deviations is x.
	bound := func(z, x float64) float64 {
		reached := func(t float64) bool {
			return M*fillAfter(M, t)+z*math.Sqrt(occupiedVariance(M, t)) >= x
		}
		low, high := 0.0, 1.0
		for !reached(high) {
			low, high = high, high*2
		}
		for range 60 {
			mid := low + (high-low)/2
			if reached(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		return high / K
	}
	e := Estimate{Value: keysAt(M, K, X), High: math.Inf(1)}
	e.Low = min(e.Value, max(bound(sigmas95, X-0.5), X/K))
	if X+0.5 < M {
		e.High = max(e.Value, bound(-sigmas95, X+0.5))
	}
	return e
}
