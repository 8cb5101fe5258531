package blocked

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the very bits
// there are: the mean, over the blocks and over the words that keys use, of the
// product of these words' fills, once for each bit. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.shape.M == 0 {
		return umbel.Stats{}
	}
	ones, rate := measure(f.cells.Words, f.shape.Words, f.shape.Bits)
	n := plan.BlockedKeys(f.shape.M, f.shape.Words, f.shape.Bits, ones)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.shape.M), FPRate: rate / float64(f.sectors.blocks),
		Cells: f.shape.M, K: float64(f.shape.Words * f.shape.Bits), Bytes: f.cells.Bytes(),
	}
}

// measure returns the number of bits that are set and the sum of the blocks' rates.
func measure(cells []uint64, words, perWord int) (ones uint64, rate float64) {
	var low, high [1 << 4]float64
	sets, fills := &setsOf[words], &fills[perWord]
	for ; len(cells) >= blockWords; cells = cells[blockWords:] {
		var n [blockWords]int
		for i, w := range cells[:blockWords] {
			n[i] = bits.OnesCount64(w)
			ones += uint64(n[i])
		}
		setProducts(&low, fills[n[0]], fills[n[1]], fills[n[2]], fills[n[3]])
		setProducts(&high, fills[n[4]], fills[n[5]], fills[n[6]], fills[n[7]])
		rate += sets.mean(&low, &high)
	}
	return ones, rate
}

// fills are the chances that the one or two bits of a key in a word are set, by the
// number of those that are.
var fills = func() (all [MaxBits + 1][wordBits + 1]float64) {
	for n := range all[1] {
		fill := float64(n) / wordBits
		all[1][n], all[2][n] = fill, fill*fill
	}
	return all
}()
