package blocked

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the bits that are actually set: the
// mean, over the blocks and over the sets of words that keys use, of the product of the fill ratios of
// these words, once for each bit. The Stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.shape.M == 0 {
		return umbel.Stats{}
	}
	ones, rate := measure(f.cells.Words, f.shape.Words, f.shape.Bits)
	n := f.array().Keys(func(m, ones uint64) plan.Estimate {
		return estimateKeys(m, f.shape.Words, f.shape.Bits, ones)
	})
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.shape.M), FPRate: rate / float64(f.blocks.count),
		Cells: f.shape.M, K: float64(f.shape.Words * f.shape.Bits), Bytes: f.cells.Bytes(),
	}
}

// measure returns the number of bits that are set and the sum of the blocks' rates.
func measure(cells []uint64, words, perWord int) (ones uint64, rate float64) {
	fills, sum := &fills[perWord], sums[words]
	for ; len(cells) >= blockWords; cells = cells[blockWords:] {
		w := (*block)(cells)
		// Not in a loop, since the compiler keeps arrays in memory.
		a, b, c, d := bits.OnesCount64(w[0]), bits.OnesCount64(w[1]), bits.OnesCount64(w[2]), bits.OnesCount64(w[3])
		e, f, g, h := bits.OnesCount64(w[4]), bits.OnesCount64(w[5]), bits.OnesCount64(w[6]), bits.OnesCount64(w[7])
		ones += uint64(a + b + c + d + e + f + g + h)
		rate += sum(fills[a], fills[b], fills[c], fills[d], fills[e], fills[f], fills[g], fills[h])
	}
	return ones, rate / float64(len(orders))
}

// fills are the probabilities that the one or two bits of a key in a word are set, by the number of set
// bits in the word.
var fills = func() (all [maxBits + 1][wordBits + 1]float64) {
	for n := range all[1] {
		fill := float64(n) / wordBits
		all[1][n], all[2][n] = fill, fill*fill
	}
	return all
}()

// sums contains, by the number of words of a key, a function that returns the sum over the orders of the
// product of the key's words; a to h are the fills of the words 0 to 7 of a block. The 56 maps x -> ax+b choose
// every set of n words equally often, except that the sets of four are the 14 planes. The eight orders that
// occur twice have a = 1: they choose, as far as n allows, the pairs of words 2x and 2x+1 and the halves 0 to 3
// and 4 to 7 of a block. No sum exceeds len(orders), since it is exact if all fills are 1, and rounding
// is monotone.
var sums = [blockWords + 1]func(a, b, c, d, e, f, g, h float64) float64{
	1: func(a, b, c, d, e, f, g, h float64) float64 {
		return 8 * (one(a, b, c, d) + one(e, f, g, h))
	},
	2: func(a, b, c, d, e, f, g, h float64) float64 { // every pair, and those of the double orders
		all := two(a, b, c, d) + two(e, f, g, h) + one(a, b, c, d)*one(e, f, g, h)
		return 2 * (all + (a*b + c*d) + (e*f + g*h))
	},
	3: func(a, b, c, d, e, f, g, h float64) float64 {
		return 2*(three(a, b, c, d)+three(e, f, g, h)) + (two(a, b, c, d)*one(e, f, g, h) + one(a, b, c, d)*two(e, f, g, h))
	},
	4: func(a, b, c, d, e, f, g, h float64) float64 { // halves, and pairs in both with the same difference
		mixed := (a*b+c*d)*(e*f+g*h) + (a*c+b*d)*(e*g+f*h) + (a*d+b*c)*(e*h+f*g)
		return 4 * (2*(four(a, b, c, d)+four(e, f, g, h)) + mixed)
	},
	5: func(a, b, c, d, e, f, g, h float64) float64 {
		return 2*(four(a, b, c, d)*one(e, f, g, h)+one(a, b, c, d)*four(e, f, g, h)) +
			(three(a, b, c, d)*two(e, f, g, h) + two(a, b, c, d)*three(e, f, g, h))
	},
	6: func(a, b, c, d, e, f, g, h float64) float64 {
		return 2 * (four(a, b, c, d)*(two(e, f, g, h)+(e*f+g*h)) + (two(a, b, c, d)+(a*b+c*d))*four(e, f, g, h) +
			three(a, b, c, d)*three(e, f, g, h))
	},
	7: func(a, b, c, d, e, f, g, h float64) float64 {
		return 8 * (four(a, b, c, d)*three(e, f, g, h) + three(a, b, c, d)*four(e, f, g, h))
	},
	8: func(a, b, c, d, e, f, g, h float64) float64 {
		return 64 * (four(a, b, c, d) * four(e, f, g, h))
	},
}

// one, two, three and four return the sum of the products of all subsets of four numbers with 1, 2, 3
// and 4 elements.

func one(a, b, c, d float64) float64   { return a + b + (c + d) }
func two(a, b, c, d float64) float64   { return a*b + c*d + (a+b)*(c+d) }
func three(a, b, c, d float64) float64 { return a*b*(c+d) + c*d*(a+b) }
func four(a, b, c, d float64) float64  { return a * b * (c * d) }
