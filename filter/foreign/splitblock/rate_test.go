package splitblock

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// TestParquetSizes: bits per key for a rate, as in the table of sizes of Apache Parquet's
// BloomFilter.md.
func TestParquetSizes(t *testing.T) {
	const n = 10_000_000
	for _, c := range []struct{ p, bitsPerKey float64 }{
		{0.1, 6.0}, {0.01, 10.5}, {0.001, 16.9}, {0.0001, 26.4}, {0.00001, 41},
	} {
		m, err := size(n, c.p)
		if got := float64(m) / n; err != nil || !fixture.Near(got, c.bitsPerKey, 0.004) {
			t.Errorf("p=%g: %.2f bits per key, %v, want %.1f", c.p, got, err, c.bitsPerKey)
		}
	}
	// The formula of the first edition has no spread of loads.
	p := 0.001
	perKey := -8 / math.Log1p(-math.Pow(p, 1.0/8))
	if got := fpRate(uint64(perKey*n), n); !fixture.Near(perKey, 14.61, 1e-3) || !fixture.Near(got, 0.00208, 0.005) {
		t.Errorf("%.2f bits per key have a rate of %.5f, want 14.61 and .00208", perKey, got)
	}
}

func TestSplitBlockFPRateAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		m, n   uint64
		trials int
	}{{256, 20, 4000}, {1024, 100, 2000}, {1 << 16, 6000, 60}, {1 << 16, 2000, 200}} {
		r := fixture.Rand(4)
		blocks := make([][K]uint32, c.m/BlockBits)
		var rate fixture.Sample
		for range c.trials {
			clear(blocks)
			for range c.n {
				b := &blocks[r.IntN(len(blocks))]
				for w, random := 0, r.Uint64(); w < K; w++ {
					b[w] |= 1 << (random >> (5 * w) % wordBits)
				}
			}
			sum := 0.0
			for _, b := range blocks {
				product := 1.0
				for _, w := range b {
					ones := 0
					for ; w != 0; w &= w - 1 {
						ones++
					}
					product *= float64(ones) / wordBits
				}
				sum += product
			}
			rate.Add(sum / float64(len(blocks)))
		}
		rate.WantMean(t, fpRate(c.m, c.n), 0)
	}
}

func TestSplitBlockSizeHasNoBetterNeighbor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		p := math.Exp(-rapid.Float64Range(0.01, 14).Draw(t, "ln 1/p"))
		m, err := size(n, p)
		if err != nil {
			t.Fatal(err)
		}
		if m%BlockBits != 0 || fpRate(m, n) > p {
			t.Fatalf("m=%d: rate %g", m, fpRate(m, n))
		}
		if m > BlockBits && fpRate(m-BlockBits, n) <= p {
			t.Fatalf("m=%d; but one block less has %g", m, fpRate(m-BlockBits, n))
		}
	})
	fixture.WantPanic(t, "m=255", func() { fpRate(255, 1) })
}

// TestSplitBlockKeys: the interval contains the true number of keys in 95 % of the cases, within
// 3 standard deviations of the trials and half a percent, since ones are whole numbers. The
// estimate is right on average, to half a percent in a single block.
func TestSplitBlockKeys(t *testing.T) {
	const trials = 2000
	for _, c := range []struct{ blocks, keys uint64 }{
		{1, 25}, {10, 250}, {40, 1000}, {40, 400}, {40, 2000}, {120, 3000},
	} {
		r := fixture.Rand(c.blocks + c.keys)
		inside := 0.0
		var value fixture.Sample
		for range trials {
			e := estimateKeys(c.blocks*BlockBits, simulateSplitBlocks(r, c.blocks, c.keys))
			if e.Low <= float64(c.keys) && float64(c.keys) <= e.High {
				inside++
			}
			value.Add(e.Value)
		}
		if share := inside / trials; math.Abs(share-0.95) > 0.005+3*math.Sqrt(0.95*0.05/trials) {
			t.Errorf("%+v: the true number is inside in %.4f of the cases, want 0.95", c, share)
		}
		value.WantMean(t, float64(c.keys), 0.005)
	}
}

// simulateSplitBlocks adds keys to blocks and returns the number of bits set.
func simulateSplitBlocks(r *rand.Rand, blocks, keys uint64) (ones uint64) {
	set := make([][K]uint32, blocks)
	for range keys {
		b := &set[r.Uint64N(blocks)]
		for w, random := 0, r.Uint64(); w < K; w++ {
			b[w] |= 1 << (random >> (5 * w) % wordBits)
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
		e := estimateKeys(2*BlockBits+1, ones)
		if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High) || math.IsInf(e.Low, 1) {
			t.Errorf("%d ones in 512: %+v, want the bounds on both sides", ones, e)
		}
		if full := ones >= 2*BlockBits; math.IsInf(e.Value, 1) != full || math.IsInf(e.High, 1) != full {
			t.Errorf("%d ones in 512: %+v, want +Inf when full", ones, e)
		}
	}
	if e := estimateKeys(BlockBits, 0); e != (plan.Estimate{}) {
		t.Errorf("an empty filter: %+v, want zeros", e)
	}
	fixture.WantPanic(t, "m=255", func() { estimateKeys(255, 1) })
}
