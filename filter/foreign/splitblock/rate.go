package splitblock

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// wordBits is the number of bits in a word of a block.
const wordBits = 32

// fpRate returns the false-positive rate of a split-block filter, as a fraction in
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
func fpRate(m, n uint64) float64 {
	mustBlocks(m)
	return occupancy.OverLoad(n, m/BlockBits, func(load float64) float64 {
		return plan.FPRateAtFill(occupancy.Fill(wordBits, load), K)
	})
}

func mustBlocks(m uint64) {
	if m < BlockBits {
		panic(fmt.Sprintf("m=%d bits, want at least one block of %d", m, BlockBits))
	}
}

// size returns the smallest number m of bits, a multiple of 256, for which a
// split-block filter has a [fpRate] of at most p with n distinct keys.
//
// It returns an error wrapping [plan.ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func size(n uint64, p float64) (m uint64, err error) {
	if err := planning.CheckGoal(n, p); err != nil {
		return 0, err
	}
	guess := -K / math.Log1p(-math.Pow(p, 1.0/K)) / BlockBits * float64(n)
	blocks, ok := planning.LeastNear(guess, planning.MaxCells/BlockBits, func(blocks uint64) bool { return fpRate(blocks*BlockBits, n) <= p })
	if !ok {
		return 0, planning.TooManyCells(n, p)
	}
	return blocks * BlockBits, nil
}

// estimateKeys estimates the number n of distinct keys in a split-block filter of m bits, of
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
// [plan.Filter.Keys] neglects that and is too narrow, by 7 percent at 10 bits per key. Low is never
// below ones/8. For an empty filter all three numbers are 0; for a full one Value and High are
// +Inf, and Low is the estimate with three cells still zero.
func estimateKeys(m, ones uint64) plan.Estimate {
	mustBlocks(m)
	blocks := float64(m / BlockBits)
	cells := blocks * BlockBits
	hit := 1 / (wordBits * blocks)
	at := func(ones float64) float64 { return math.Log1p(-ones/cells) / math.Log1p(-hit) }

	x := min(float64(ones), cells)
	switch x {
	case 0:
		return plan.Estimate{}
	case cells:
		return plan.Estimate{Value: math.Inf(1), Low: max(at(cells-3), cells/K), High: math.Inf(1)}
	}
	n := at(x)
	zero := 1 - x/cells
	// excess is the covariance of two cells, both of which a key hits with the probability both,
	// in units of zero².
	excess := func(both float64) float64 {
		return math.Expm1(n * math.Log1p((both-hit*hit)/((1-hit)*(1-hit))))
	}
	const inOtherWords = BlockBits - wordBits
	variance := cells * zero * (1 - zero +
		zero*(inOtherWords*excess(hit/wordBits)+(cells-1-inOtherWords)*excess(0)))
	slope := -cells * zero * math.Log1p(-hit) // ones per key
	half := planning.Sigmas95 * math.Sqrt(max(variance, 0)+0.25) / slope
	return plan.Estimate{
		Value: n,
		Low:   min(n, max(min(n-half, math.Floor(n)), x/K)),
		High:  max(n+half, math.Ceil(n)),
	}
}
