package plan

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
)

// BestK returns the number k of cells per key, at least 1, for which a Bloom filter of m cells
// with n distinct keys has the lowest [Filter.FPRate]; of two equally good ones, the smaller. For many keys
// it is one of the two whole numbers around ln 2 / (-n ln(1-1/m)), which is close to (m/n) ln 2: Bloom
// 1970; Broder and Mitzenmacher 2004. For a few keys it is smaller: with one key and 44 cells, 23 instead
// of 30. If the rate is below any float64, BestK returns that number for many keys. The result is at most
// 2^31-1. Without keys every k is equally good and the result is 1. BestK panics if m is zero.
func BestK(m, n uint64) int {
	planning.MustShape(m, 1)
	if n == 0 {
		return 1
	}
	empty := float64(n) * math.Log1p(-1/float64(m)) // ln of the share of zero cells, per k
	ideal := math.Ln2 / -empty
	if ideal >= math.MaxInt32 {
		return math.MaxInt32
	}
	// The logarithm, since the rate itself can be too small for a float64.
	logRate := func(k float64) float64 { return k * math.Log(-math.Expm1(k*empty)) }
	k := max(1, math.Floor(ideal))
	if logRate(k+1) < logRate(k) {
		k++
	}
	best := int(min(k, math.MaxInt32))
	for best > 1 && (Filter{m, best - 1}).FPRate(n) < (Filter{m, best}).FPRate(n) {
		best--
	}
	return best
}

// Size returns the smallest Bloom filter with a [Filter.FPRate] of at most p with n distinct keys: the
// smallest number of cells for which some whole number k of cells per key has that rate, and the smallest
// such k. k is close to log2(1/p) and has no upper bound; if the filter has one, call [SizeForK].
//
// It returns an error wrapping [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func Size(n uint64, p float64) (Filter, error) {
	m, k, err := planning.LeastSize(n, p, 1, planning.HighestK(p), oneCell, rateWith(n))
	return Filter{m, k}, err
}

// SizeForK returns the smallest number m of cells for which a Bloom filter that sets k cells
// per key has an [Filter.FPRate] of at most p with n distinct keys. For many keys that is
// 1/(1-(1-p^(1/k))^(1/(kn))), rounded up, and for a few keys more.
//
// It returns an error wrapping [ErrRange] if n is zero, k is less than 1, p is not inside
// (0, 1), or m would be above 2^63.
func SizeForK(n uint64, k int, p float64) (m uint64, err error) {
	if err := planning.CheckK(k); err != nil {
		return 0, err
	}
	m, _, err = planning.LeastSize(n, p, k, k, oneCell, rateWith(n))
	return m, err
}

func oneCell(int) uint64 { return 1 }

func rateWith(n uint64) func(m uint64, k int) float64 {
	return func(m uint64, k int) float64 { return Filter{m, k}.FPRate(n) }
}

// Capacity returns the largest number n of distinct keys with which f has a [Filter.FPRate] of at most p.
// It is zero if p is below the rate with one key, and 2^64-1 if p is at least the rate with that many keys,
// for example if p is 1.
func (f Filter) Capacity(p float64) uint64 {
	f.check()
	return planning.Most(math.MaxUint64, func(n uint64) bool { return f.FPRate(n) <= p })
}
