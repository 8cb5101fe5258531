package plan

import "fmt"

// The shape of a split block filter: blocks of eight words of 32 bits.
const (
	splitWords = 8
	splitWord  = 32
	splitBlock = splitWords * splitWord
)

// SplitBlockFPRate returns the probability that a split block filter answers yes
// for a key it does not hold, as a fraction in [0, 1]. The filter has m bits in
// blocks of 256, sets one bit in each of the eight 32-bit words of one block per
// key, and holds n distinct keys. Bits beyond the last whole block are not used.
// It panics if m is less than 256.
//
// A block with i keys has the rate (1-(31/32)^i)^8, exactly in the mean, since
// words do not touch each other; the load i is binomial, n keys choosing among
// m/256 blocks. Source: the block of Apache Parquet's BloomFilter.md, averaged
// over loads as in Putze, Sanders and Singler 2010, equation (3). Parquet's
// first text sized with -8/ln(1-p^(1/8)) bits per key, which leaves the spread of
// loads out: for p=0.001 that is 14.61, and the rate is 0.0021. Its later table
// agrees with this function.
func SplitBlockFPRate(m, n uint64) float64 {
	if m < splitBlock {
		panic(fmt.Sprintf("plan: m=%d bits, want at least one block of %d", m, splitBlock))
	}
	return overLoad(n, m/splitBlock, func(load float64) float64 {
		return FPRateAtFill(fillAfter(splitWord, load), splitWords)
	})
}

// SplitBlockSize returns the least number m of bits, a multiple of 256, for which
// a split block filter has a [SplitBlockFPRate] of at most p with n distinct keys.
//
// The error wraps [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func SplitBlockSize(n uint64, p float64) (m uint64, err error) {
	unit := func(int) uint64 { return splitBlock }
	m, _, err = leastSize(n, p, splitWords, splitWords, unit, func(m uint64, _ int) float64 { return SplitBlockFPRate(m, n) })
	return m, err
}
