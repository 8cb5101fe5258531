package plan

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Apache Parquet's BloomFilter.md, table of sizes: bits per key for a rate.
func TestParquetSizes(t *testing.T) {
	const n = 10_000_000
	for _, c := range []struct{ p, bitsPerKey float64 }{
		{0.1, 6.0}, {0.01, 10.5}, {0.001, 16.9}, {0.0001, 26.4}, {0.00001, 41},
	} {
		m, err := SplitBlockSize(n, c.p)
		if got := float64(m) / n; err != nil || !near(got, c.bitsPerKey, 0.004) {
			t.Errorf("p=%g: %.2f bits per key, %v, want %.1f", c.p, got, err, c.bitsPerKey)
		}
	}
	// The formula of the first edition has no spread of loads.
	p := 0.001
	perKey := -8 / math.Log1p(-math.Pow(p, 1.0/8))
	if got := SplitBlockFPRate(uint64(perKey*n), n); !near(perKey, 14.61, 1e-3) || !near(got, 0.00208, 0.005) {
		t.Errorf("%.2f bits per key have a rate of %.5f, want 14.61 and .00208", perKey, got)
	}
}

func TestSplitBlockFPRateAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		m, n   uint64
		trials int
	}{{256, 20, 4000}, {1024, 100, 2000}, {1 << 16, 6000, 60}, {1 << 16, 2000, 200}} {
		r := newRand(4)
		blocks := make([][splitWords]uint32, c.m/splitBlock)
		var rate sample
		for range c.trials {
			clear(blocks)
			for range c.n {
				b := &blocks[r.IntN(len(blocks))]
				for w, random := 0, r.Uint64(); w < splitWords; w++ {
					b[w] |= 1 << (random >> (5 * w) % splitWord)
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
					product *= float64(ones) / splitWord
				}
				sum += product
			}
			rate.add(sum / float64(len(blocks)))
		}
		rate.wantMean(t, SplitBlockFPRate(c.m, c.n), 0)
	}
}

func TestSplitBlockSizeHasNoBetterNeighbour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		p := math.Exp(-rapid.Float64Range(0.01, 14).Draw(t, "ln 1/p"))
		m, err := SplitBlockSize(n, p)
		if err != nil {
			t.Fatal(err)
		}
		if m%splitBlock != 0 || SplitBlockFPRate(m, n) > p {
			t.Fatalf("m=%d: rate %g", m, SplitBlockFPRate(m, n))
		}
		if m > splitBlock && SplitBlockFPRate(m-splitBlock, n) <= p {
			t.Fatalf("m=%d; but one block less has %g", m, SplitBlockFPRate(m-splitBlock, n))
		}
	})
	wantPanic(t, "m=255", func() { SplitBlockFPRate(255, 1) })
}
