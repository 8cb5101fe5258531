package plan

import (
	"fmt"
	"math"
)

// BestK returns the number k of cells per key, at least 1, for which a Bloom filter of m cells
// with n distinct keys has the lowest [FPRate]; of two equally good ones, the smaller. For many keys
// it is one of the two whole numbers around ln 2 / (-n ln(1-1/m)), which is close to (m/n) ln 2: Bloom
// 1970; Broder and Mitzenmacher 2004. For a few keys it is smaller: with one key and 44 cells, 23 instead
// of 30. If the rate is below any float64, BestK returns that number for many keys. The result is at most
// 2^31-1. Without keys every k is equally good and the result is 1. BestK panics if m is zero.
func BestK(m, n uint64) int {
	mustShape(m, 1)
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
	for best > 1 && FPRate(m, best-1, n) < FPRate(m, best, n) {
		best--
	}
	return best
}

// Size returns the smallest number m of cells for which some whole number k of cells per key
// gives a Bloom filter an [FPRate] of at most p with n distinct keys, and the smallest such k.
// k is close to log2(1/p) and has no upper bound; if the filter has one, call [SizeForK].
//
// It returns an error wrapping [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func Size(n uint64, p float64) (m uint64, k int, err error) {
	return leastSize(n, p, 1, highestK(p), unitCell, plainRate(n))
}

// SizeForK returns the smallest number m of cells for which a Bloom filter that sets k cells
// per key has an [FPRate] of at most p with n distinct keys. For many keys that is
// 1/(1-(1-p^(1/k))^(1/(kn))), rounded up, and for a few keys more.
//
// It returns an error wrapping [ErrRange] if n is zero, k is less than 1, p is not inside
// (0, 1), or m would be above 2^63.
func SizeForK(n uint64, k int, p float64) (m uint64, err error) {
	if err := checkK(k); err != nil {
		return 0, err
	}
	m, _, err = leastSize(n, p, k, k, unitCell, plainRate(n))
	return m, err
}

// Capacity returns the largest number n of distinct keys for which a Bloom filter of m cells
// that sets k of them per key has an [FPRate] of at most p. It is zero if p is below the rate
// with one key, and 2^64-1 if p is at least the rate with that many keys, for example if p is
// 1. It panics if m or k is zero or k is negative.
func Capacity(m uint64, k int, p float64) uint64 {
	mustShape(m, k)
	return mostKeys(func(n uint64) bool { return FPRate(m, k, n) <= p })
}

// PartitionedFPRate returns the false-positive rate of a partitioned filter, as a fraction in
// [0, 1]. The filter has m cells in k slices of m/k cells, sets one cell of each slice per key
// and contains n distinct keys. It panics if k is zero or negative, or m is less than k. If k
// does not divide m, it still computes with slices of m/k cells.
//
// The formula is (1-(1-k/m)^n)^k: Almeida, Baquero, Preguiça and Hutchison 2007. Slices are
// independent, so unlike that of [FPRate] it is the exact mean for every m; their condition "if
// m is reasonably large" is needed for a single array only. With m=64, n=8, k=4 it is 0.026450;
// a single array has 0.025354, for which FPRate gives 0.024556.
func PartitionedFPRate(m uint64, k int, n uint64) float64 {
	mustShape(m, k)
	if m < uint64(k) {
		panic(fmt.Sprintf("plan: m=%d cells in k=%d slices, want at least one cell in each", m, k))
	}
	return FPRateAtFill(fillAfter(float64(m)/float64(k), float64(n)), k)
}

// PartitionedSize returns the smallest number m of cells, a multiple of k, for which a
// partitioned filter of k slices has a [PartitionedFPRate] of at most p with n distinct keys,
// over all k, and the smallest such k.
//
// It returns an error wrapping [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func PartitionedSize(n uint64, p float64) (m uint64, k int, err error) {
	// Since slices have whole cells, a k above the usual best can be better: for 8 keys at
	// 1e-6 the best design is 22 slices of 11 cells.
	return leastSize(n, p, 1, 2*highestK(p), unitSlices, partitionedRate(n))
}

// PartitionedSizeForK is [PartitionedSize] for a given number k of slices. It also returns an
// error wrapping [ErrRange] if k is less than 1.
func PartitionedSizeForK(n uint64, k int, p float64) (m uint64, err error) {
	if err := checkK(k); err != nil {
		return 0, err
	}
	m, _, err = leastSize(n, p, k, k, unitSlices, partitionedRate(n))
	return m, err
}

// PartitionedCapacity returns the largest number n of distinct keys for which a partitioned
// filter of m cells in k slices has a [PartitionedFPRate] of at most p. It is zero if p is below
// the rate with one key, and 2^64-1 if p is 1. It panics as PartitionedFPRate does.
func PartitionedCapacity(m uint64, k int, p float64) uint64 {
	mustShape(m, k)
	return mostKeys(func(n uint64) bool { return PartitionedFPRate(m, k, n) <= p })
}

func unitCell(int) uint64     { return 1 }
func unitSlices(k int) uint64 { return uint64(k) }

func plainRate(n uint64) func(m uint64, k int) float64 {
	return func(m uint64, k int) float64 { return FPRate(m, k, n) }
}

func partitionedRate(n uint64) func(m uint64, k int) float64 {
	return func(m uint64, k int) float64 { return PartitionedFPRate(m, k, n) }
}

// highestK returns the largest k that can give the smallest size at rate p. Without rounding
// the best k is log2(1/p), where half of the cells are zero.
func highestK(p float64) int {
	if !(p > 0 && p < 1) {
		return 1
	}
	return int(math.Ceil(-math.Log2(p))) + 1
}

// leastSize returns the smallest m, a multiple of unit(k) and at most 2^63, such that
// rate(m, k) is at most p for a k from kLow to kHigh, and the smallest such k. The rate must
// not rise with m. Even where rounding makes the computed rate uneven, the next smaller
// multiple has a rate above p.
func leastSize(n uint64, p float64, kLow, kHigh int, unit func(k int) uint64, rate func(m uint64, k int) float64) (m uint64, k int, err error) {
	if err := checkGoal(n, p); err != nil {
		return 0, 0, err
	}
	below := uint64(maxCells) // a better m is at most this
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
