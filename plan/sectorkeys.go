package plan

import (
	"fmt"
	"math"
)

// SectorKeys returns an estimate of the number n of distinct keys in a sector
// filter of m bits, of which ones are set, and the interval that holds the true
// number with a confidence of about 95 percent. Its arguments, and when it panics,
// are those of [SectorFPRate].
//
// A key sets a given cell of its block with the probability
// h = words/8·(1-(63/64)^perWord), so that a cell is still zero with n keys in B
// blocks with the probability (1-h/B)^n: the value is what makes that the share of
// zeros that was found. [Keys] would be too low, by 0.8 percent with three words of
// two bits.
//
// The interval is 1.96 standard deviations to both sides. Cells of one block depend
// on each other through its load, and all on the sum of loads being n: the variance
// is that of independent Poisson loads, less what the loads' sum explains, by the
// delta method. Its Low is never below ones/(words·perWord). For an empty filter
// all three numbers are 0; for a full one Value and High are +Inf, and Low is where
// three cells remain.
func SectorKeys(m uint64, words, perWord int, ones uint64) Estimate {
	mustSectors(words, perWord)
	if m < sectorBlock {
		panic(fmt.Sprintf("plan: m=%d bits, want at least one block of %d", m, sectorBlock))
	}
	blocks := float64(m / sectorBlock)
	cells := blocks * sectorBlock
	inWord := -math.Expm1(float64(perWord) * math.Log1p(-1.0/sectorWord)) // a word that is used has the cell set
	hit := float64(words) / sectorWords * inWord
	at := func(ones float64) float64 { return math.Log1p(-ones/cells) / math.Log1p(-hit/blocks) }

	x := min(float64(ones), cells)
	switch x {
	case 0:
		return Estimate{}
	case cells:
		return Estimate{Value: math.Inf(1), Low: max(at(cells-3), cells/float64(words*perWord)), High: math.Inf(1)}
	}
	n := at(x)
	load := n / blocks
	zero := math.Exp(-hit * load)
	// Two cells are both zero if no key of the block hits either.
	bothZero := func(bothHit float64) float64 { return math.Exp(-(2*hit - bothHit) * load) }
	sameWord := bothZero(float64(words) / sectorWords * (1 - 2*math.Pow(1-1.0/sectorWord, float64(perWord)) + math.Pow(1-2.0/sectorWord, float64(perWord))))
	otherWord := bothZero(float64(words*(words-1)) / (sectorWords * (sectorWords - 1)) * inWord * inWord)
	slope := sectorBlock * hit * zero // ones per key
	ofBlock := sectorBlock * (zero*(1-zero) + (sectorWord-1)*(sameWord-zero*zero) + (sectorBlock-sectorWord)*(otherWord-zero*zero))
	variance := blocks * max(ofBlock-load*slope*slope, 0)
	half := sigmas * math.Sqrt(variance+0.25) / slope
	return Estimate{
		Value: n,
		Low:   min(n, max(n-half, x/float64(words*perWord))),
		High:  n + half,
	}
}
