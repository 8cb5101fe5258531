package plan

import (
	"math"
	"math/big"
	"sync"
)

// sectorSum is what the rates of sector filters with some number of words and of
// bits per word are made of.
type sectorSum struct {
	// terms of inclusion and exclusion: factor times the probability that no key
	// hits certain cells, which each key of their block does with probability hit.
	terms []struct{ factor, hit float64 }
	// few holds the rate of one block by its load, from none up to some keys.
	few []float64
}

const (
	// sectorRare is the rate below which the alternating sum has lost too much. It is
	// off by 1e-11 at most.
	sectorRare = 1e-7
	// sectorFew is the rate of one block at which few ends: the alternating sum has
	// lost too little to matter.
	sectorFew = 1e-4
	// sectorPrecision is that of the terms for few keys, in bits. The least rate, of
	// one key in eight words of two bits, is 1e-24, and the terms add up to 65536.
	sectorPrecision = 256
)

// rate returns the rate with n keys, at least one, in so many blocks.
func (s *sectorSum) rate(n, blocks uint64) float64 {
	if p := s.alternating(float64(n), float64(blocks)); p >= sectorRare {
		return p
	}
	return s.byLoad(n, blocks)
}

// alternating sums the terms.
func (s *sectorSum) alternating(n, blocks float64) float64 {
	p := 0.0
	for _, t := range s.terms {
		p += t.factor * math.Exp(n*math.Log1p(-t.hit/blocks))
	}
	return min(max(p, 0), 1)
}

// byLoad averages over the load of a block.
func (s *sectorSum) byLoad(n, blocks uint64) float64 {
	return overLoad(n, blocks, func(load float64) float64 {
		if load < float64(len(s.few)) {
			return s.few[int(load)]
		}
		return s.alternating(load, 1)
	})
}

// sectorSums keeps the sums once made: the longest take milliseconds.
var sectorSums sync.Map // [2]int{words, perWord} to *sectorSum

func sectorSumOf(words, perWord int) *sectorSum {
	key := [2]int{words, perWord}
	if s, ok := sectorSums.Load(key); ok {
		return s.(*sectorSum)
	}
	s := newSectorSum(words, perWord)
	sectorSums.Store(key, s)
	return s
}

func newSectorSum(words, perWord int) *sectorSum {
	s := &sectorSum{few: []float64{0}}
	terms := exactTerms(words, perWord)
	for _, t := range terms {
		factor, _ := t.factor.Float64()
		hit, _ := newFloat(1).Sub(newFloat(1), t.stay).Float64()
		s.terms = append(s.terms, struct{ factor, hit float64 }{factor, hit})
	}
	for rate := 0.0; rate < sectorFew; {
		sum := newFloat(0)
		for _, t := range terms {
			t.factor.Mul(t.factor, t.stay) // with one key more
			sum.Add(sum, t.factor)
		}
		rate, _ = sum.Float64()
		s.few = append(s.few, rate)
	}
	return s
}

func newFloat(x float64) *big.Float { return new(big.Float).SetPrec(sectorPrecision).SetFloat64(x) }

// exactTerm is a term as in sectorSum; stay is 1-hit.
type exactTerm struct{ factor, stay *big.Float }

// exactTerms returns the terms for each choice of a number of cells, 0 to perWord,
// in each of the question's words, which are words 0, 1, ….
func exactTerms(words, perWord int) (terms []exactTerm) {
	factor, miss := wordTerms(perWord)
	shared := sharedWords(words)
	var cells [sectorWords]int
	for {
		term := exactTerm{newFloat(1), newFloat(0)}
		for i := range words {
			term.factor.Mul(term.factor, factor[cells[i]])
		}
		for set, share := range shared {
			if share == 0 {
				continue
			}
			product := newFloat(float64(share))
			for word := range words {
				if set>>word&1 == 1 {
					product.Mul(product, miss[cells[word]])
				}
			}
			term.stay.Add(term.stay, product)
		}
		term.stay.Quo(term.stay, newFloat(sectorMaps))
		terms = append(terms, term)
		i := 0
		for ; i < words && cells[i] == perWord; i++ {
			cells[i] = 0
		}
		if i == words {
			return terms
		}
		cells[i]++
	}
}

// wordTerms returns, for s cells of one word, the factor of inclusion and exclusion
// for all of them being zero, and the probability that a key which uses the word
// hits none of them.
func wordTerms(perWord int) (factor, miss []*big.Float) {
	// Draws of the question that cover d different cells, each of which may be zero
	// or not.
	covers := make([]*big.Float, perWord+1)
	for d := range covers {
		covers[d] = newFloat(0)
	}
	covers[0].SetInt64(1)
	for range perWord {
		for d := perWord; d >= 0; d-- {
			covers[d].Mul(covers[d], newFloat(float64(d)/sectorWord))
			if d > 0 {
				more := newFloat(float64(sectorWord-d+1) / sectorWord)
				covers[d].Add(covers[d], more.Mul(more, covers[d-1]))
			}
		}
	}
	for s := range int64(perWord + 1) {
		f, m := newFloat(0), newFloat(1)
		for d := s; d <= int64(perWord); d++ {
			ways := float64(new(big.Int).Binomial(d, s).Int64())
			if s%2 == 1 {
				ways = -ways
			}
			f.Add(f, newFloat(0).Mul(newFloat(ways), covers[d]))
		}
		for range perWord {
			m.Mul(m, newFloat(1-float64(s)/sectorWord))
		}
		factor, miss = append(factor, f), append(miss, m)
	}
	return factor, miss
}

// sharedWords returns how many of the sets of words that keys choose have just
// certain words in common with words 0, 1, …, which the index tells as bits.
func sharedWords(words int) (sets [1 << sectorWords]int) {
	for _, set := range sectorSets(words) {
		shared := 0
		for _, word := range set[:words] {
			if word < words {
				shared |= 1 << word
			}
		}
		sets[shared]++
	}
	return sets
}

// sectorMaps is the number of maps.
const sectorMaps = sectorWords * (sectorWords - 1)

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
