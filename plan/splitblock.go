package plan

import (
	"fmt"
	"math"
)

// Blocks of a split-block filter have eight words of 32 bits.
const (
	splitWords = 8
	splitWord  = 32
	splitBlock = splitWords * splitWord
)

// SplitBlockFPRate returns the false-positive rate of a split-block filter, as a fraction in
// [0, 1]. The filter has m bits in blocks of 256, sets one bit in each of the eight 32-bit words
// of one block per key, and contains n distinct keys. Bits after the last whole block are not
// used. It panics if m is less than 256.
//
// A block with i keys has the rate (1-(31/32)^i)^8, which is an exact mean since words are
// independent. The load i is binomial: n keys choose among m/256 blocks. Source: the block of
// Apache Parquet's BloomFilter.md, averaged over loads as in Putze, Sanders and Singler 2010,
// equation (3). Parquet's first text used -8/ln(1-p^(1/8)) bits per key, which neglects that
// loads vary: for p=0.001 that is 14.61, and the rate is 0.0021. Its later table agrees with
// this function.
func SplitBlockFPRate(m, n uint64) float64 {
	mustSplitBlocks(m)
	return overLoad(n, m/splitBlock, func(load float64) float64 {
		return FPRateAtFill(fillAfter(splitWord, load), splitWords)
	})
}

func mustSplitBlocks(m uint64) {
	if m < splitBlock {
		panic(fmt.Sprintf("plan: m=%d bits, want at least one block of %d", m, splitBlock))
	}
}

// SplitBlockSize returns the smallest number m of bits, a multiple of 256, for which a
// split-block filter has a [SplitBlockFPRate] of at most p with n distinct keys.
//
// It returns an error wrapping [ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func SplitBlockSize(n uint64, p float64) (m uint64, err error) {
	if err := checkGoal(n, p); err != nil {
		return 0, err
	}
	guess := -splitWords / math.Log1p(-math.Pow(p, 1.0/splitWords)) / splitBlock * float64(n)
	blocks, ok := leastNear(guess, maxCells/splitBlock, func(blocks uint64) bool { return SplitBlockFPRate(blocks*splitBlock, n) <= p })
	if !ok {
		return 0, tooManyCells(n, p)
	}
	return blocks * splitBlock, nil
}

// SplitBlockKeys estimates the number n of distinct keys in a split-block filter of m bits, of
// which ones are set. The interval contains the true number with a confidence of about 95
// percent. Bits after the last whole block are not used. It panics if m is less than 256.
//
// With n keys in B blocks a cell is still zero with the probability (1-x)^n, where x = 1/(32B).
// The value is the n for which that equals the measured share of zeros.
//
// The bounds are 1.96 standard deviations away, by the delta method. The variance of ones is
// exact. Two cells are both zero if no key hits either. A key hits neither with the probability
// 1-2x if they are of one word or of two blocks, since it cannot hit both, and 1-2x+x/32 if they
// are of two words of one block, which depend on each other through the load of the block.
// [KeysInterval] neglects that and is too narrow, by 7 percent at 10 bits per key. Low is never
// below ones/8. For an empty filter all three numbers are 0; for a full one Value and High are
// +Inf, and Low is the estimate with three cells still zero.
func SplitBlockKeys(m, ones uint64) Estimate {
	mustSplitBlocks(m)
	blocks := float64(m / splitBlock)
	cells := blocks * splitBlock
	hit := 1 / (splitWord * blocks)
	at := func(ones float64) float64 { return math.Log1p(-ones/cells) / math.Log1p(-hit) }

	x := min(float64(ones), cells)
	switch x {
	case 0:
		return Estimate{}
	case cells:
		return Estimate{Value: math.Inf(1), Low: max(at(cells-3), cells/splitWords), High: math.Inf(1)}
	}
	n := at(x)
	zero := 1 - x/cells
	// excess is the covariance of two cells, both of which a key hits with the probability both,
	// in units of zero².
	excess := func(both float64) float64 {
		return math.Expm1(n * math.Log1p((both-hit*hit)/((1-hit)*(1-hit))))
	}
	const inOtherWords = splitBlock - splitWord
	variance := cells * zero * (1 - zero +
		zero*(inOtherWords*excess(hit/splitWord)+(cells-1-inOtherWords)*excess(0)))
	slope := -cells * zero * math.Log1p(-hit) // ones per key
	half := sigmas95 * math.Sqrt(max(variance, 0)+0.25) / slope
	return Estimate{
		Value: n,
		Low:   min(n, max(n-half, x/splitWords)),
		High:  n + half,
	}
}

// overLoad returns the mean of f(i) over the load i of one block, if n keys choose among blocks
// blocks at random: Binomial(n, 1/blocks). f must be between 0 and 1, not fall, and have a concave
// logarithm, as 1-q^i to the power k does; the terms then rise to one peak and fall. Weights
// start at 1 at the most likely load and are multiplied from there in both directions, which
// needs no factorials and works for every n. Terms below 1e-9 of both sums are omitted. The time
// is proportional to the square root of the mean load; above a mean load of 2^16 the result is
// the mean of f one standard deviation above and below it.
//
// Putze, Sanders and Singler 2010, equation (3), use a Poisson load, which is the limit of many
// blocks. With 1024 bits in blocks of 512, 100 keys and k=6 anywhere in a block, the rate is
// 0.00815, and Poisson gives 0.00868.
func overLoad(n, blocks uint64, f func(load float64) float64) float64 {
	const negligible = 1e-9
	N, B := float64(n), float64(blocks)
	if blocks == 1 || n == 0 {
		return f(N)
	}
	mean := N / B
	if mean > 1<<16 {
		sd := math.Sqrt(mean * (1 - 1/B))
		return (f(mean-sd) + f(mean+sd)) / 2
	}
	mode := math.Floor((N + 1) / B)
	weights, sum := 1.0, f(mode)
	add := func(i, w float64) (more bool) {
		term := w * f(i)
		weights += w
		sum += term
		return w > negligible*weights || term > negligible*sum
	}
	for i, w := mode, 1.0; i < N; i++ {
		w *= (N - i) / (i + 1) / (B - 1)
		if !add(i+1, w) {
			break
		}
	}
	for i, w := mode, 1.0; i > 0; i-- {
		w *= i / (N - i + 1) * (B - 1)
		if !add(i-1, w) {
			break
		}
	}
	return min(sum/weights, 1) // where the compiler fuses operations, rounding made it more
}
