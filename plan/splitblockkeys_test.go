package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval holds the true number of keys 95 times in 100, to 3 standard
// deviations of the trials and half a percent, since ones are whole numbers; and the
// value is right in the mean, to half a percent in one block alone.
func TestSplitBlockKeys(t *testing.T) {
	const trials = 2000
	for _, c := range []struct{ blocks, keys uint64 }{
		{1, 25}, {10, 250}, {40, 1000}, {40, 400}, {40, 2000}, {120, 3000},
	} {
		r := newRand(c.blocks + c.keys)
		inside := 0.0
		var value sample
		for range trials {
			e := SplitBlockKeys(c.blocks*splitBlock, simulateSplitBlocks(r, c.blocks, c.keys))
			if e.Low <= float64(c.keys) && float64(c.keys) <= e.High {
				inside++
			}
			value.add(e.Value)
		}
		if share := inside / trials; math.Abs(share-0.95) > 0.005+3*math.Sqrt(0.95*0.05/trials) {
			t.Errorf("%+v: the true number is inside in %.4f of the cases, want 0.95", c, share)
		}
		value.wantMean(t, float64(c.keys), 0.005)
	}
}

// simulateSplitBlocks adds keys to blocks and returns the number of bits set.
func simulateSplitBlocks(r *rand.Rand, blocks, keys uint64) (ones uint64) {
	set := make([][splitWords]uint32, blocks)
	for range keys {
		b := &set[r.Uint64N(blocks)]
		for w, random := 0, r.Uint64(); w < splitWords; w++ {
			b[w] |= 1 << (random >> (5 * w) % splitWord)
		}
	}
	for _, b := range set {
		for _, w := range b {
			for ; w != 0; w &= w - 1 {
				ones++
			}
		}
	}
	return ones
}

func TestSplitBlockKeysAtTheEnds(t *testing.T) {
	for ones := range uint64(600) {
		e := SplitBlockKeys(2*splitBlock+1, ones)
		if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High) || math.IsInf(e.Low, 1) {
			t.Errorf("%d ones in 512: %+v, want the bounds on both sides", ones, e)
		}
		if full := ones >= 2*splitBlock; math.IsInf(e.Value, 1) != full || math.IsInf(e.High, 1) != full {
			t.Errorf("%d ones in 512: %+v, want +Inf when full", ones, e)
		}
	}
	if e := SplitBlockKeys(splitBlock, 0); e != (Estimate{}) {
		t.Errorf("an empty filter: %+v, want zeros", e)
	}
	wantPanic(t, "m=255", func() { SplitBlockKeys(255, 1) })
}
