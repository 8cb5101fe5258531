package plan

import (
	"fmt"
)

// PartitionedFPRate returns the probability that a partitioned filter answers yes
// for a key it does not hold, as a fraction in [0, 1]. The filter has m cells in k
// slices of m/k cells, sets one cell in each slice per key, and holds n distinct
// keys. It panics if k is zero or negative, or m is less than k. If k does not
// divide m, it computes with slices of m/k cells all the same.
//
// The formula is (1-(1-k/m)^n)^k: Almeida, Baquero, Preguiça and Hutchison 2007.
// Slices do not touch each other, so unlike that of [FPRate] it is
// exact in the mean for every m; their "if m is reasonably large" is needed for
// the single array only. With m=64, n=8, k=4 it gives 0.026450; a single array
// has 0.025354, for which FPRate gives 0.024556.
func PartitionedFPRate(m uint64, k int, n uint64) float64 {
	mustShape(m, k)
	if m < uint64(k) {
		panic(fmt.Sprintf("plan: m=%d cells in k=%d slices, want at least one cell in each", m, k))
	}
	return FPRateAtFill(fillAfter(float64(m)/float64(k), float64(n)), k)
}

// PartitionedSize returns the least number m of cells, a multiple of k, for which
// a partitioned filter of k slices has a [PartitionedFPRate] of at most p with n
// distinct keys, over all k, and the least such k.
//
// The error wraps [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func PartitionedSize(n uint64, p float64) (m uint64, k int, err error) {
	// Slices of whole cells can make a k above the usual best win: for 8 keys at
	// 1e-6 the best is 22 slices of 11 cells.
	return leastSize(n, p, 1, 2*highestK(p), unitSlices, partitionedRate(n))
}

// PartitionedSizeForK is [PartitionedSize] for a given number k of slices. The
// error wraps [ErrRange] also if k is less than 1.
func PartitionedSizeForK(n uint64, k int, p float64) (m uint64, err error) {
	if err := checkK(k); err != nil {
		return 0, err
	}
	m, _, err = leastSize(n, p, k, k, unitSlices, partitionedRate(n))
	return m, err
}

// PartitionedCapacity returns the largest number n of distinct keys for which a
// partitioned filter of m cells in k slices has a [PartitionedFPRate] of at most
// p. It is zero if p is below the rate with one key, and 2^64-1 if p is 1. It
// panics as PartitionedFPRate does.
func PartitionedCapacity(m uint64, k int, p float64) uint64 {
	mustShape(m, k)
	return mostKeys(func(n uint64) bool { return PartitionedFPRate(m, k, n) <= p })
}

func unitSlices(k int) uint64 { return uint64(k) }

func partitionedRate(n uint64) func(m uint64, k int) float64 {
	return func(m uint64, k int) float64 { return PartitionedFPRate(m, k, n) }
}
