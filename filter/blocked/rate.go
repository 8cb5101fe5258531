package blocked

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// minFPRate is the lowest rate that blocked filters are planned for. A filter that
// takes all positions of a block from 64 bits of a digest cannot draw them independently:
// with five words of two bits, two keys of one block agree in 58 bits more often than 60
// independent bits would, and with 64 values for 56 maps, eight maps occur twice. Filters
// that are planned for a rate of 1e-9 therefore have 2 percent more, for 1e-12 3, for
// 1e-15 7 and for 1e-18 28; below that, nearly twice as much.
const minFPRate = 1e-18

// fpRate returns the false-positive rate of a blocked filter, as a fraction in
// [0, 1]. The filter has m bits in blocks of eight words of 64 bits and contains n distinct
// keys. A key chooses one block, in it words different words, and in each of them perWord
// bits, independently, so that two may coincide. Bits after the last whole block are not
// used. fpRate panics if m is less than 512, or unless perWord is 1 and words is 1
// to 8, or perWord is 2 and words is 1 to 5. These 13 designs are all that kind blocked has.
//
// Every pair of words is chosen equally often: by one of the 56 maps x -> ax+b of the field
// of eight elements, applied to 0, 1, …, words-1. That is as good as a choice among all sets
// of words, since the rate hardly depends on more than pairs. Filters choose with six bits, so that
// eight maps occur twice, which makes the rate of few keys in a block higher: by 9 percent with one
// key and up to 16 percent with two. fpRate includes that for up to eight keys; with nine it is
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
// tabulated (layouts.go), so a call takes about a microsecond.
//
// Source: Lang, Neumann, Kemper and Boncz 2019, "Performance-Optimal Filtering", section 3,
// sectorized Bloom filters, whose words lie in groups that don't overlap; blocks are from
// Putze, Sanders and Singler 2010.
func fpRate(m uint64, words, perWord int, n uint64) float64 {
	d := mustLayout(m, words, perWord)
	if n == 0 {
		return 0
	}
	return d.rate(n, m/BlockBits)
}

// bestLayout returns the number of words and of bits per word for a blocked filter of m
// bits and n distinct keys: of the designs whose [fpRate] is at most 3 percent above
// that of the best design, the one with the fewest words, and then the fewest bits. Fewer
// words are less work, above all for concurrent additions. It panics if m is less than 512.
func bestLayout(m, n uint64) (words, perWord int) {
	const slack = 1.03
	rates, lowest := make([]float64, len(layouts)), 1.0
	for i, d := range layouts {
		rates[i] = fpRate(m, d.words, d.perWord, n)
		lowest = min(lowest, rates[i])
	}
	for i, d := range layouts {
		if rates[i] <= lowest*slack {
			return d.words, d.perWord
		}
	}
	panic("blocked: unreachable")
}

// layoutForRate returns the number of words and of bits per word for a blocked filter
// of many keys with a rate of at most p: of the designs whose [size] for 2^20 keys is
// at most 1 percent above that of the best design, the one with the fewest words, and then
// the fewest bits. With 100 keys or more it is at most 2 percent above. It looks p up in a
// table. Sizes are compared among the 13 designs of
// [fpRate] only: at a rate of 1e-8, eight words of two bits, which don't fit a digest,
// would need a quarter fewer bits.
//
// It returns an error wrapping [plan.ErrRange] if p is not inside (0, 1) or is below
// [minFPRate].
func layoutForRate(p float64) (words, perWord int, err error) {
	if err := checkRate(1, p); err != nil {
		return 0, 0, err
	}
	for _, d := range layoutsByRate {
		if p >= d.rate {
			return d.words, d.perWord, nil
		}
	}
	panic("blocked: unreachable")
}

// Size returns the smallest number m of bits, a multiple of [BlockBits], with which a filter of n distinct
// keys that sets bits bits in each of words words has a rate of at most p. The size that [Plan] chooses is up
// to 1 % larger, so that it folds well. It returns an error wrapping umbel.ErrGoal if no filter has
// these words and bits, n is zero, p is not inside (0, 1) or is below 1e-18, or m would be above 2^63.
func Size(n uint64, words, bits int, p float64) (m uint64, err error) {
	if m, err = size(n, words, bits, p); err != nil {
		return 0, sentinel.Errorf(umbel.ErrGoal, "blocked: %w", err)
	}
	return m, nil
}

// size returns the smallest number m of bits, a multiple of 512, for which a blocked
// filter with this design has a [fpRate] of at most p with n distinct keys.
//
// It returns an error wrapping [plan.ErrRange] if the design is not one of those of
// fpRate, n is zero, p is not inside (0, 1) or is below [minFPRate], or m
// would be above 2^63.
func size(n uint64, words, perWord int, p float64) (m uint64, err error) {
	if err := checkRate(n, p); err != nil {
		return 0, err
	}
	d, err := findLayout(words, perWord)
	if err != nil {
		return 0, err
	}
	guess := -1.6 * math.Log2(p) / BlockBits * float64(n) // a little above what is needed
	blocks, ok := planning.LeastNear(guess, planning.MaxCells/BlockBits, func(blocks uint64) bool { return d.rate(n, blocks) <= p })
	if !ok {
		return 0, planning.TooManyCells(n, p)
	}
	return blocks * BlockBits, nil
}

//go:generate go test -run TestLayoutTable -update .

// rateRange is the design for rates from rate up to that of the range before.
type rateRange struct {
	rate           float64
	words, perWord int
}

// term is a term of inclusion and exclusion: factor times the probability that no key
// hits certain cells, which a key of their block does with probability hit.
type term struct{ factor, hit float64 }

// layout is one of the designs, with the numbers that its rate is computed from.
type layout struct {
	words, perWord int
	terms          []term
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
func (d *layout) rate(n, blocks uint64) float64 {
	if n < uint64(len(d.fewKeys)) {
		return occupancy.OverLoad(n, blocks, func(load float64) float64 { return d.fewKeys[int(load)] })
	}
	if p := d.alternating(float64(n), float64(blocks)); p >= rareRate {
		return p
	}
	return d.overLoads(n, blocks)
}

// alternating adds the terms.
func (d *layout) alternating(n, blocks float64) float64 {
	p := 0.0
	for _, t := range d.terms {
		p += t.factor * math.Exp(n*math.Log1p(-t.hit/blocks))
	}
	return min(max(p, 0), 1)
}

// overLoads averages the rates of one block over its load.
func (d *layout) overLoads(n, blocks uint64) float64 {
	return occupancy.OverLoad(n, blocks, func(load float64) float64 {
		if load < float64(len(d.byLoad)) {
			return d.byLoad[int(load)]
		}
		return d.alternating(load, 1)
	})
}

// findLayout returns a design, or an error wrapping plan.ErrRange if it is not in the table.
func findLayout(words, perWord int) (*layout, error) {
	for i := range layouts {
		if d := &layouts[i]; d.words == words && d.perWord == perWord {
			return d, nil
		}
	}
	return nil, sentinel.Errorf(plan.ErrRange, "%d bits in each of %d words, want 1 bit in each of 1 to 8 words or 2 bits in each of 1 to 5",
		perWord, words)
}

// mustLayout returns a design and panics if no filter has it with m bits.
func mustLayout(m uint64, words, perWord int) *layout {
	d, err := findLayout(words, perWord)
	if err != nil {
		panic(err.Error())
	}
	if m < BlockBits {
		panic(fmt.Sprintf("m=%d bits, want at least one block of %d", m, BlockBits))
	}
	return d
}

func checkRate(n uint64, p float64) error {
	if err := planning.CheckGoal(n, p); err != nil {
		return err
	}
	if p < minFPRate {
		return sentinel.Errorf(plan.ErrRange, "false-positive rate %v, want at least %v for a blocked filter; accept that, or use a plain filter", p, minFPRate)
	}
	return nil
}
