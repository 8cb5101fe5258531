package plan

import (
	"fmt"
	"math"
	"sync"
)

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
// alternate; of the result, all but the last 1e-11 is reliable.
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
	return sectorSumOf(words, perWord).rate(float64(n), float64(m/sectorBlock))
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

// SectorSizeFor returns the least number m of bits, a multiple of 512, for which a
// sector filter with that many words and bits per word has a [SectorFPRate] of at
// most p with n distinct keys.
//
// The error wraps [ErrRange] if words and perWord are not what [SectorFPRate]
// takes, n is zero, p is not inside (0, 1), or m would be above 2^63.
func SectorSizeFor(n uint64, words, perWord int, p float64) (m uint64, err error) {
	if err := checkSectors(words, perWord); err != nil {
		return 0, err
	}
	s := sectorSumOf(words, perWord)
	m, _, err = leastSize(n, p, 1, 1,
		func(int) uint64 { return sectorBlock },
		func(m uint64, _ int) float64 { return s.rate(float64(n), float64(m/sectorBlock)) })
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

// sectorSum holds the terms of inclusion and exclusion: factor times the
// probability that each key hits one of certain cells, given its block.
type sectorSum []struct{ factor, hit float64 }

// sectorSums keeps the sums once made: the longest take milliseconds.
var sectorSums sync.Map // [2]int{words, perWord} to sectorSum

func sectorSumOf(words, perWord int) sectorSum {
	key := [2]int{words, perWord}
	if s, ok := sectorSums.Load(key); ok {
		return s.(sectorSum)
	}
	s := newSectorSum(words, perWord)
	sectorSums.Store(key, s)
	return s
}

func newSectorSum(words, perWord int) sectorSum {
	// One word: draws of the question that cover d different cells, each of which
	// may be zero or not.
	covers := make([]float64, perWord+1)
	covers[0] = 1
	for range perWord {
		for d := perWord; d >= 0; d-- {
			covers[d] *= float64(d) / sectorWord
			if d > 0 {
				covers[d] += covers[d-1] * float64(sectorWord-d+1) / sectorWord
			}
		}
	}
	factor, miss := make([]float64, perWord+1), make([]float64, perWord+1)
	for s := range factor {
		ways := 1.0 // (-1)^s times d over s
		for d := s; d <= perWord; d++ {
			if d > s {
				ways *= float64(d) / float64(d-s)
			}
			factor[s] += covers[d] * ways
		}
		if s%2 == 1 {
			factor[s] = -factor[s]
		}
		miss[s] = math.Pow(1-float64(s)/sectorWord, float64(perWord))
	}

	// All words: s cells of the question's word i, which is word i, are zero.
	sets := sectorSets(words)
	var sum sectorSum
	var s, zero [sectorWords]int
	for {
		f := 1.0
		for i := range words {
			f *= factor[s[i]]
			zero[i] = s[i]
		}
		all := 0.0
		for _, set := range sets {
			product := 1.0
			for _, word := range set[:words] {
				product *= miss[zero[word]]
			}
			all += 1 - product
		}
		sum = append(sum, struct{ factor, hit float64 }{f, all / float64(len(sets))})
		i := 0
		for ; i < words && s[i] == perWord; i++ {
			s[i] = 0
		}
		if i == words {
			return sum
		}
		s[i]++
	}
}

// rate returns the rate with n keys in so many blocks.
func (sum sectorSum) rate(n, blocks float64) float64 {
	p := 0.0
	for _, t := range sum {
		p += t.factor * math.Exp(n*math.Log1p(-t.hit/blocks))
	}
	return min(max(p, 0), 1)
}

// sectorSets returns the words that keys choose: one set for each map x -> ax+b,
// a not zero, of the field of eight elements.
func sectorSets(words int) (sets [][sectorWords]int) {
	for a := 1; a < sectorWords; a++ {
		for b := range sectorWords {
			var set [sectorWords]int
			for i := range words {
				set[i] = times8(a, i) ^ b
			}
			sets = append(sets, set)
		}
	}
	return sets
}

// times8 multiplies in the field of eight elements: polynomials over two elements
// modulo x³+x+1.
func times8(a, b int) int {
	p := a*(b&1) ^ a<<1*(b>>1&1) ^ a<<2*(b>>2)
	return (p ^ p>>3 ^ p>>3<<1) & 7
}
