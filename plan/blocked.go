package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Blocks of a blocked filter have eight words of 64 bits.
const (
	blockWords = 8
	wordBits   = 64
	blockBits  = blockWords * wordBits
)

// MinBlockedFPRate is the lowest rate that blocked filters are planned for. A filter that
// takes all positions of a block from 64 bits of a digest cannot draw them independently:
// with five words of two bits, two keys of one block agree in 58 bits more often than 60
// independent bits would, and with 64 values for 56 maps, eight maps occur twice. Filters
// that are planned for a rate of 1e-9 therefore have 2 percent more, for 1e-12 3, for
// 1e-15 7 and for 1e-18 28; below that, nearly twice as much.
const MinBlockedFPRate = 1e-18

// BlockedFPRate returns the false-positive rate of a blocked filter, as a fraction in
// [0, 1]. The filter has m bits in blocks of eight words of 64 bits and contains n distinct
// keys. A key chooses one block, in it words different words, and in each of them perWord
// bits, independently, so that two may coincide. Bits after the last whole block are not
// used. BlockedFPRate panics if m is less than 512, or unless perWord is 1 and words is 1
// to 8, or perWord is 2 and words is 1 to 5. These 13 designs are all that kind blocked has.
//
// Every pair of words is chosen equally often: by one of the 56 maps x -> ax+b of the field
// of eight elements, applied to 0, 1, …, words-1. That is as good as a choice among all sets
// of words, since the rate hardly depends on more than pairs. Filters choose with six bits, so that
// eight maps occur twice, which makes the rate of few keys in a block higher: by 9 percent with one
// key and up to 16 percent with two. BlockedFPRate includes that for up to eight keys; with nine it is
// at most 5 percent.
//
// The rate is exact for independent keys. The probability that all bits of a query are set
// follows by inclusion and exclusion over its cells that are still zero. If it has s_i such
// cells in its word i, all of them stay zero with n keys with the probability
//
//	(1 - (1-M(s))/B)^n
//
// where B is the number of blocks and M(s) the mean over the 56 maps of the product of
// (1-s_i/64)^perWord over the words that a map chooses. The load of a block is therefore
// binomial, and the words of a block are not assumed to be independent: with ten bits per
// key, words=3 and perWord=2 that would give 0.01006 instead of 0.00981. The terms alternate
// in sign, so that up to 1e-11 of the result is rounding. Rates below 1e-7 are instead
// summed over loads; the two methods agree to 1e-4 of the rate there. The terms are
// tabulated (blockedtable.go), so a call takes about a microsecond.
//
// Source: Lang, Neumann, Kemper and Boncz 2019, "Performance-Optimal Filtering", section 3,
// sectorized Bloom filters, whose words lie in groups that don't overlap; blocks are from
// Putze, Sanders and Singler 2010.
func BlockedFPRate(m uint64, words, perWord int, n uint64) float64 {
	d := mustBlocked(m, words, perWord)
	if n == 0 {
		return 0
	}
	return d.rate(n, m/blockBits)
}

// BlockedDesign returns the number of words and of bits per word for a blocked filter of m
// bits and n distinct keys: of the designs whose [BlockedFPRate] is at most 3 percent above
// that of the best design, the one with the fewest words, and then the fewest bits. Fewer
// words are less work, above all for concurrent additions. It panics if m is less than 512.
func BlockedDesign(m, n uint64) (words, perWord int) {
	const slack = 1.03
	rates, lowest := make([]float64, len(blockedDesigns)), 1.0
	for i, d := range blockedDesigns {
		rates[i] = BlockedFPRate(m, d.words, d.perWord, n)
		lowest = min(lowest, rates[i])
	}
	for i, d := range blockedDesigns {
		if rates[i] <= lowest*slack {
			return d.words, d.perWord
		}
	}
	panic("plan: unreachable")
}

// BlockedDesignForRate returns the number of words and of bits per word for a blocked filter
// of many keys with a rate of at most p: of the designs whose [BlockedSize] for 2^20 keys is
// at most 1 percent above that of the best design, the one with the fewest words, and then
// the fewest bits. With 100 keys or more it is at most 2 percent above. It looks p up in a
// table. Sizes are compared among the 13 designs of
// [BlockedFPRate] only: at a rate of 1e-8, eight words of two bits, which don't fit a digest,
// would need a quarter fewer bits.
//
// It returns an error wrapping [ErrRange] if p is not inside (0, 1) or is below
// [MinBlockedFPRate].
func BlockedDesignForRate(p float64) (words, perWord int, err error) {
	if err := checkBlockedRate(1, p); err != nil {
		return 0, 0, err
	}
	for _, d := range blockedByRate {
		if p >= d.rate {
			return d.words, d.perWord, nil
		}
	}
	panic("plan: unreachable")
}

// BlockedSize returns the smallest number m of bits, a multiple of 512, for which a blocked
// filter with this design has a [BlockedFPRate] of at most p with n distinct keys.
//
// It returns an error wrapping [ErrRange] if the design is not one of those of
// BlockedFPRate, n is zero, p is not inside (0, 1) or is below [MinBlockedFPRate], or m
// would be above 2^63.
func BlockedSize(n uint64, words, perWord int, p float64) (m uint64, err error) {
	if err := checkBlockedRate(n, p); err != nil {
		return 0, err
	}
	d, err := findBlocked(words, perWord)
	if err != nil {
		return 0, err
	}
	guess := -1.6 * math.Log2(p) / blockBits * float64(n) // a little above what is needed
	blocks, ok := leastNear(guess, maxCells/blockBits, func(blocks uint64) bool { return d.rate(n, blocks) <= p })
	if !ok {
		return 0, tooManyCells(n, p)
	}
	return blocks * blockBits, nil
}

// BlockedKeys estimates the number n of distinct keys in a blocked filter of m bits, of
// which ones are set. The interval contains the true number with a confidence of about 95
// percent. It panics as [BlockedFPRate] does.
//
// A key sets a given cell of its block with the probability h = words/8·(1-(63/64)^perWord).
// With n keys in B blocks a cell is therefore still zero with the probability (1-h/B)^n, and
// the value is the n for which that equals the measured share of zeros. [Keys] would be too
// low, by 0.8 percent with three words of two bits.
//
// The bounds are 1.96 standard deviations away. Cells of one block depend on each other
// through its load, and all cells on the sum of the loads, which is n: the variance is that
// of independent Poisson loads, less what the sum of the loads explains, by the delta method.
// Low is never below ones/(words·perWord). For an empty filter all three numbers are 0; for a
// full one Value and High are +Inf, and Low is the estimate with three cells still zero.
func BlockedKeys(m uint64, words, perWord int, ones uint64) Estimate {
	mustBlocked(m, words, perWord)
	blocks := float64(m / blockBits)
	cells := blocks * blockBits
	inWord := -math.Expm1(float64(perWord) * math.Log1p(-1.0/wordBits)) // P(cell is hit | its word is used)
	hit := float64(words) / blockWords * inWord
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
	sameWord := bothZero(float64(words) / blockWords * (1 - 2*math.Pow(1-1.0/wordBits, float64(perWord)) + math.Pow(1-2.0/wordBits, float64(perWord))))
	otherWord := bothZero(float64(words*(words-1)) / (blockWords * (blockWords - 1)) * inWord * inWord)
	slope := blockBits * hit * zero // ones per key
	ofBlock := blockBits * (zero*(1-zero) + (wordBits-1)*(sameWord-zero*zero) + (blockBits-wordBits)*(otherWord-zero*zero))
	variance := blocks * max(ofBlock-load*slope*slope, 0)
	half := sigmas95 * math.Sqrt(variance+0.25) / slope
	return Estimate{
		Value: n,
		Low:   min(n, max(n-half, x/float64(words*perWord))),
		High:  n + half,
	}
}

//go:generate go test -run TestBlockedTable -update .

// blockedRange is the design for rates from rate up to that of the range before.
type blockedRange struct {
	rate           float64
	words, perWord int
}

// blockedTerm is a term of inclusion and exclusion: factor times the probability that no key
// hits certain cells, which a key of their block does with probability hit.
type blockedTerm struct{ factor, hit float64 }

// blockedDesign is one of the designs, with the numbers that its rate is computed from.
type blockedDesign struct {
	words, perWord int
	terms          []blockedTerm
	// byLoad is the rate of one block that contains 0, 1, … keys, as long as that is
	// below 1e-4. At higher loads the alternating sum is precise enough.
	byLoad []float64
	// fewKeys is the rate of one block that contains 0 to 8 keys, with the eight maps that occur
	// twice.
	fewKeys []float64
}

// rareRate is the rate below which the alternating sum is too imprecise: its absolute error
// is up to 1e-11.
const rareRate = 1e-7

// rate returns the rate with n keys, at least one, in blocks blocks.
func (d *blockedDesign) rate(n, blocks uint64) float64 {
	if n < uint64(len(d.fewKeys)) {
		return overLoad(n, blocks, func(load float64) float64 { return d.fewKeys[int(load)] })
	}
	if p := d.alternating(float64(n), float64(blocks)); p >= rareRate {
		return p
	}
	return d.overLoads(n, blocks)
}

// alternating adds the terms.
func (d *blockedDesign) alternating(n, blocks float64) float64 {
	p := 0.0
	for _, t := range d.terms {
		p += t.factor * math.Exp(n*math.Log1p(-t.hit/blocks))
	}
	return min(max(p, 0), 1)
}

// overLoads averages the rates of one block over its load.
func (d *blockedDesign) overLoads(n, blocks uint64) float64 {
	return overLoad(n, blocks, func(load float64) float64 {
		if load < float64(len(d.byLoad)) {
			return d.byLoad[int(load)]
		}
		return d.alternating(load, 1)
	})
}

// findBlocked returns a design, or an error wrapping ErrRange if it is not in the table.
func findBlocked(words, perWord int) (*blockedDesign, error) {
	for i := range blockedDesigns {
		if d := &blockedDesigns[i]; d.words == words && d.perWord == perWord {
			return d, nil
		}
	}
	return nil, sentinel.Errorf(ErrRange, "plan: %d bits in each of %d words, want 1 bit in each of 1 to 8 words or 2 bits in each of 1 to 5",
		perWord, words)
}

// mustBlocked returns a design and panics if no filter has it with m bits.
func mustBlocked(m uint64, words, perWord int) *blockedDesign {
	d, err := findBlocked(words, perWord)
	if err != nil {
		panic(err.Error())
	}
	if m < blockBits {
		panic(fmt.Sprintf("plan: m=%d bits, want at least one block of %d", m, blockBits))
	}
	return d
}

func checkBlockedRate(n uint64, p float64) error {
	if err := checkGoal(n, p); err != nil {
		return err
	}
	if p < MinBlockedFPRate {
		return sentinel.Errorf(ErrRange, "plan: false-positive rate %v, want at least %v for a blocked filter; accept that, or use a plain filter", p, MinBlockedFPRate)
	}
	return nil
}
