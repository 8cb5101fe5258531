package plan

import (
	"fmt"
	"math"
)

// SplitBlockKeys returns an estimate of the number n of distinct keys in a split
// block filter of m bits, of which ones are set, and the interval that holds the
// true number with a confidence of about 95 percent. Bits beyond the last whole
// block are not used. It panics if m is less than 256.
//
// With n keys in B blocks a cell is still zero with the probability (1-x)^n, where
// x = 1/(32B): the value is what makes that the share of zeros that was found.
//
// The interval is 1.96 standard deviations to both sides, by the delta method. The
// variance of ones is exact. Two cells are both zero if no key hits either: a key
// hits neither with 1-2x if they are of one word or of two blocks, of which it can't
// hit both, and with 1-2x+x/32 if they are of two words of one block, which depend
// on each other through the load of the block. [KeysInterval] leaves that out and is
// too narrow, by 7 percent at 10 bits per key. Low is never below ones/8. For an empty
// filter all three numbers are 0; for a full one Value and High are +Inf, and Low is
// where three cells remain.
func SplitBlockKeys(m, ones uint64) Estimate {
	if m < splitBlock {
		panic(fmt.Sprintf("plan: m=%d bits, want at least one block of %d", m, splitBlock))
	}
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
	// excess is the covariance of two cells of which a key hits both with the
	// probability both, in units of zero².
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
