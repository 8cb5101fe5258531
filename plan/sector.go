package plan

import "fmt"

// The shape of a sector filter: blocks of eight words of 64 bits, of which a key
// uses some.
const (
	sectorWords = 8
	sectorWord  = 64
	sectorBlock = sectorWords * sectorWord
	// MaxSectorBits is the largest number of bits per key of a sector filter.
	MaxSectorBits = 16
)

// A design may have a rate or a size that is higher by these fractions than the
// least there is if it uses fewer words.
const (
	sectorRateSlack = 0.03
	sectorSizeSlack = 0.01
)

// Designs have at most so many bits in a word and in all: positions then come from
// 64 bits of a digest. Three bits in a word, which collide more, are never better.
// More than ten in all would make the rate no lower at 20 bits per key, and an eighth
// lower at 24.
const (
	mostPerWord = 2
	mostSectors = 10
)

// sectorDesigns holds the words and bits per word that are designed, fewest words
// first.
var sectorDesigns = func() (all [][2]int) {
	for w := 1; w <= sectorWords; w++ {
		for b := 1; b <= mostPerWord && w*b <= mostSectors; b++ {
			all = append(all, [2]int{w, b})
		}
	}
	return all
}()

// SectorFPRate returns the probability that a sector filter answers yes for a key
// it does not hold, as a fraction in [0, 1]. The filter has m bits in blocks of
// eight words of 64, and holds n distinct keys. A key chooses one block, in it
// words different words, and in each of these perWord bits, independently, so that
// two may coincide. Bits beyond the last whole block are not used. It panics if m
// is less than 512, words isn't between 1 and 8, perWord is less than 1, or words
// times perWord is above [MaxSectorBits].
//
// Every pair of words is chosen equally often: by one of the 56 maps x -> ax+b of
// the field of eight elements, applied to 0, 1, …, words-1. That is as good as a
// choice among all sets of words, since the rate hardly depends on more than pairs.
//
// The rate is exact for independent keys. That the question's bits are all set is
// written by inclusion and exclusion over the cells which are still zero, s of them
// in each of its words; they all stay zero with n keys with the probability
//
//	(1 - (1-M(s))/B)^n, B blocks, M(s) the mean over the 56 maps of
//	the product of (1-s/64)^perWord over the words chosen.
//
// So the load of a block is binomial, as in [BlockedFPRate], without a sum over
// loads, and words of one block are not taken to be independent: with ten bits per
// key, words=3 and perWord=2 that would give 0.01006 for 0.00981. The terms
// alternate, and up to 1e-11 of the result is rounding. Rates below 1e-7 are
// therefore summed over loads, by exact rates of one block, which has positive terms
// only; both ways agree to 1e-4 of the rate there.
//
// Source: Lang, Neumann, Kemper and Boncz 2019, "Performance-Optimal Filtering",
// section 3, sectorized Bloom filters, where words lie in groups that don't
// overlap; blocks are from Putze, Sanders and Singler 2010.
func SectorFPRate(m uint64, words, perWord int, n uint64) float64 {
	mustSectors(words, perWord)
	if m < sectorBlock {
		panic(fmt.Sprintf("plan: m=%d bits, want at least one block of %d", m, sectorBlock))
	}
	if n == 0 {
		return 0
	}
	return sectorSumOf(words, perWord).rate(n, m/sectorBlock)
}

// SectorDesign returns the number of words and of bits per word with which a
// sector filter of m bits has a [SectorFPRate] with n distinct keys that is at most
// 3 percent above the least there is: the fewest words, and then the fewest bits.
// Fewer words are less work, above all for additions by many goroutines. It panics
// if m is less than 512.
func SectorDesign(m, n uint64) (words, perWord int) {
	least := 1.0
	for _, d := range sectorDesigns {
		least = min(least, SectorFPRate(m, d[0], d[1], n))
	}
	for _, d := range sectorDesigns {
		if SectorFPRate(m, d[0], d[1], n) <= least*(1+sectorRateSlack) {
			return d[0], d[1]
		}
	}
	panic("plan: unreachable")
}

// LeastSectorFPRate is the least rate that sector filters are planned for. One that
// takes all positions in a block from 64 bits of a digest can't draw them
// independently: with five words of two bits two keys of one block agree in 58 bits
// more often than 60 independent ones would, and with 64 values for 56 maps eight
// maps come twice. Filters planned for a rate of 1e-9 then have 2 percent more, for
// 1e-12 3, for 1e-15 7 and for 1e-18 28; below, nearly twice as much.
const LeastSectorFPRate = 1e-18

// SectorSizeFor returns the least number m of bits, a multiple of 512, for which a
// sector filter with that many words and bits per word has a [SectorFPRate] of at
// most p with n distinct keys.
//
// The error wraps [ErrRange] if words and perWord are not what [SectorFPRate]
// takes, n is zero, p is not inside (0, 1) or below [LeastSectorFPRate], or m would
// be above 2^63.
func SectorSizeFor(n uint64, words, perWord int, p float64) (m uint64, err error) {
	if err := checkSectors(words, perWord); err != nil {
		return 0, err
	}
	if p > 0 && p < LeastSectorFPRate {
		return 0, fmt.Errorf("plan: false-positive rate %v, want at least %v of a sector filter; accept that, or take a plain filter: %w", p, LeastSectorFPRate, ErrRange)
	}
	s := sectorSumOf(words, perWord)
	m, _, err = leastSize(n, p, 1, 1,
		func(int) uint64 { return sectorBlock },
		func(m uint64, _ int) float64 { return s.rate(n, m/sectorBlock) })
	return m, err
}

// SectorSize is [SectorSizeFor] for the number of words and of bits per word that
// need at most 1 percent more than the least m there is: the fewest words, and then
// the fewest bits.
func SectorSize(n uint64, p float64) (m uint64, words, perWord int, err error) {
	if err := checkGoal(n, p); err != nil {
		return 0, 0, 0, err
	}
	sizes := make([]uint64, len(sectorDesigns)) // 0 where p is out of reach
	least := uint64(0)
	for i, d := range sectorDesigns {
		size, failed := SectorSizeFor(n, d[0], d[1], p)
		if failed != nil {
			err = failed
			continue
		}
		sizes[i] = size
		if least == 0 || size < least {
			least = size
		}
	}
	for i, d := range sectorDesigns {
		if sizes[i] != 0 && float64(sizes[i]) <= float64(least)*(1+sectorSizeSlack) {
			return sizes[i], d[0], d[1], nil
		}
	}
	return 0, 0, 0, err
}

func checkSectors(words, perWord int) error {
	if words < 1 || words > sectorWords || perWord < 1 || words*perWord > MaxSectorBits {
		return fmt.Errorf("plan: %d bits in each of %d words, want at least one bit, 1 to %d words and at most %d bits in all: %w",
			perWord, words, sectorWords, MaxSectorBits, ErrRange)
	}
	return nil
}

func mustSectors(words, perWord int) {
	if err := checkSectors(words, perWord); err != nil {
		panic(err.Error())
	}
}
