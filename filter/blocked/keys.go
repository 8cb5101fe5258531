package blocked

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// estimateKeys estimates the number n of distinct keys in a blocked filter of m bits, of
// which ones are set. The interval contains the true number with a confidence of about 95
// percent. It panics as [fpRate] does.
//
// A key sets a given cell of its block with the probability h = words/8·(1-(63/64)^perWord).
// With n keys in B blocks a cell is therefore still zero with the probability (1-h/B)^n, and
// the value is the n for which that equals the measured share of zeros. [plan.Filter.Keys] would be too
// low, by 0.8 percent with three words of two bits.
//
// The bounds are 1.96 standard deviations away. Cells of one block depend on each other
// through its load, and all cells on the sum of the loads, which is n: the variance is that
// of independent Poisson loads, less what the sum of the loads explains, by the delta method.
// Low is never below ones/(words·perWord). For an empty filter all three numbers are 0; for a
// full one Value and High are +Inf, and Low is the estimate with three cells still zero.
func estimateKeys(m uint64, words, perWord int, ones uint64) plan.Estimate {
	mustLayout(m, words, perWord)
	blocks := float64(m / BlockBits)
	cells := blocks * BlockBits
	inWord := -math.Expm1(float64(perWord) * math.Log1p(-1.0/wordBits)) // P(cell is hit | its word is used)
	hit := float64(words) / blockWords * inWord
	at := func(ones float64) float64 { return math.Log1p(-ones/cells) / math.Log1p(-hit/blocks) }

	x := min(float64(ones), cells)
	switch x {
	case 0:
		return plan.Estimate{}
	case cells:
		return plan.Estimate{Value: math.Inf(1), Low: max(at(cells-3), cells/float64(words*perWord)), High: math.Inf(1)}
	}
	n := at(x)
	load := n / blocks
	zero := math.Exp(-hit * load)
	// Two cells are both zero if no key of the block hits either.
	bothZero := func(bothHit float64) float64 { return math.Exp(-(2*hit - bothHit) * load) }
	sameWord := bothZero(float64(words) / blockWords * (1 - 2*math.Pow(1-1.0/wordBits, float64(perWord)) + math.Pow(1-2.0/wordBits, float64(perWord))))
	otherWord := bothZero(float64(words*(words-1)) / (blockWords * (blockWords - 1)) * inWord * inWord)
	slope := BlockBits * hit * zero // ones per key
	ofBlock := BlockBits * (zero*(1-zero) + (wordBits-1)*(sameWord-zero*zero) + (BlockBits-wordBits)*(otherWord-zero*zero))
	variance := blocks * max(ofBlock-load*slope*slope, 0)
	half := planning.Sigmas95 * math.Sqrt(variance+0.25) / slope
	return plan.Estimate{
		Value: n,
		Low:   min(n, max(min(n-half, math.Floor(n)), x/float64(words*perWord))),
		High:  max(n+half, math.Ceil(n)),
	}
}
