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
	var ones uint64
	var rate float64
	for i := 0; i < len(f.cells.Words); i += blockWords {
		var fill [blockWords]float64 // chance that the bits of a key in a word are set
		for j, w := range f.cells.Words[i : i+blockWords] {
			n := bits.OnesCount64(w)
			ones += uint64(n)
			fill[j] = float64(n) / wordBits
			if f.shape.Bits == 2 {
				fill[j] *= fill[j]
			}
		}
		for _, o := range orders {
			p := 1.0
			for j := range f.shape.Words {
				p *= fill[o.word(j)]
			}
			rate += p
		}
	}
	n := plan.SectorKeys(f.shape.M, f.shape.Words, f.shape.Bits, ones)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.shape.M), FPRate: rate / float64(len(orders)) / float64(f.sectors.blocks),
		Cells: f.shape.M, K: float64(f.shape.Words * f.shape.Bits), Bytes: f.cells.Bytes(),
	}
}
