package splitblock

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the very bits
// there are: the mean over the blocks of the product of the fills of their words.
// The fill of the whole filter to the power 8 would be too low, by a third at 10
// bits per key, as blocks differ in load. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.blocks == 0 {
		return umbel.Stats{}
	}
	var ones uint64
	var rate float64
	for i := 0; i < len(f.bits.Words); i += blockWords {
		p := 1.0
		for _, w := range f.bits.Words[i : i+blockWords] {
			low, high := bits.OnesCount32(uint32(w)), bits.OnesCount32(uint32(w>>32))
			ones += uint64(low + high)
			p *= float64(low*high) / (32 * 32)
		}
		rate += p
	}
	n := plan.SplitBlockKeys(f.bits.Len, ones)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.bits.Len), FPRate: rate / float64(f.blocks),
		Cells: f.bits.Len, K: K, Bytes: f.bits.Bytes(),
	}
}
