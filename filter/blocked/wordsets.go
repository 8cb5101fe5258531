package blocked

import "math/bits"

// sumOfSets holds the share of the orders that each set of words has: every set of
// so many words has the same, and some have more. Those are in fours whose sums
// don't wait for each other.
type sumOfSets struct {
	words int
	every float64
	more  [][4]wordSet
}

// wordSet is a set of words of a block: some of the lower four and some of the
// upper four.
type wordSet struct {
	share     float64
	low, high uint8
}

// mean returns the mean over the sets of the product of their words' numbers, of
// which low and high hold the products of the lower and of the upper four words.
func (s *sumOfSets) mean(low, high *[1 << 4]float64) float64 {
	var a, b, c, d float64
	for i := range s.more {
		four := &s.more[i]
		a += four[0].of(low, high)
		b += four[1].of(low, high)
		c += four[2].of(low, high)
		d += four[3].of(low, high)
	}
	if s.every != 0 {
		bySize, byRest := sums(low), sums(high)
		all := 0.0
		for n := max(s.words-4, 0); n <= min(s.words, 4); n++ {
			all += bySize[n] * byRest[s.words-n]
		}
		a += s.every * all
	}
	return a + b + c + d
}

func (s *wordSet) of(low, high *[1 << 4]float64) float64 {
	return s.share * low[s.low%16] * high[s.high%16]
}

// sums returns the sums of the products of no, one, two, three and four numbers.
func sums(p *[1 << 4]float64) [5]float64 {
	return [...]float64{1, p[1] + p[2] + (p[4] + p[8]), p[3] + p[5] + (p[6] + p[9]) + (p[10] + p[12]), p[7] + p[11] + (p[13] + p[14]), p[15]}
}

// setsOf are the sets of words that keys use, by how many these are.
var setsOf = func() (all [blockWords + 1]sumOfSets) {
	for words := 1; words <= blockWords; words++ {
		var share [1 << blockWords]float64
		for _, o := range orders {
			set := 0
			for place := range words {
				set |= 1 << o.word(place)
			}
			share[set] += 1.0 / float64(len(orders))
		}
		s := &all[words]
		s.words, s.every = words, 1
		for set := range share {
			if bits.OnesCount(uint(set)) == words {
				s.every = min(s.every, share[set])
			}
		}
		var more []wordSet
		for set := range share {
			if share[set] > s.every {
				more = append(more, wordSet{share[set] - s.every, uint8(set % 16), uint8(set / 16)})
			}
		}
		for len(more) > 0 {
			var four [4]wordSet
			more = more[copy(four[:], more):]
			s.more = append(s.more, four)
		}
	}
	return all
}()

// setProducts sets p to the product of each set of four numbers; bit i of the index
// is for the number i.
func setProducts(p *[1 << 4]float64, a, b, c, d float64) {
	ab, cd := a*b, c*d
	p[0], p[1], p[2], p[3] = 1, a, b, ab
	p[4], p[5], p[6], p[7] = c, a*c, b*c, ab*c
	p[8], p[9], p[10], p[11] = d, a*d, b*d, ab*d
	p[12], p[13], p[14], p[15] = cd, a*cd, b*cd, ab*cd
}
