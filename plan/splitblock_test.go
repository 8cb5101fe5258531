package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestParquetSizes: bits per key for a rate, as in the table of sizes of Apache Parquet's
// BloomFilter.md.
func TestParquetSizes(t *testing.T) {
	const n = 10_000_000
	for _, c := range []struct{ p, bitsPerKey float64 }{
		{0.1, 6.0}, {0.01, 10.5}, {0.001, 16.9}, {0.0001, 26.4}, {0.00001, 41},
	} {
		m, err := SplitBlockSize(n, c.p)
		if got := float64(m) / n; err != nil || !fixture.Near(got, c.bitsPerKey, 0.004) {
			t.Errorf("p=%g: %.2f bits per key, %v, want %.1f", c.p, got, err, c.bitsPerKey)
		}
	}
	// The formula of the first edition has no spread of loads.
	p := 0.001
	perKey := -8 / math.Log1p(-math.Pow(p, 1.0/8))
	if got := SplitBlockFPRate(uint64(perKey*n), n); !fixture.Near(perKey, 14.61, 1e-3) || !fixture.Near(got, 0.00208, 0.005) {
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

func TestSplitBlockSizeHasNoBetterNeighbor(t *testing.T) {
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
	fixture.WantPanic(t, "m=255", func() { SplitBlockFPRate(255, 1) })
}

// TestSplitBlockKeys: the interval contains the true number of keys in 95 % of the cases, within
// 3 standard deviations of the trials and half a percent, since ones are whole numbers. The
// estimate is right on average, to half a percent in a single block.
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
	fixture.WantPanic(t, "m=255", func() { SplitBlockKeys(255, 1) })
}

// anyBitsFPRate is the rate of a filter that sets k bits anywhere in one of m/block
// blocks: Putze, Sanders and Singler 2010, equation (3), with a binomial load.
func anyBitsFPRate(m, block uint64, k int, n uint64) float64 {
	return overLoad(n, m/block, func(load float64) float64 {
		return FPRateAtFill(fillAfter(float64(block), float64(k)*load), k)
	})
}

// anyBitsSize returns the least m for a rate of at most p, over all k.
func anyBitsSize(n, block uint64, p float64) uint64 {
	m, _, _ := leastSize(n, p, 1, highestK(p), func(int) uint64 { return block },
		func(m uint64, k int) float64 { return anyBitsFPRate(m, block, k, n) })
	return m
}

// poissonRate is Putze, Sanders and Singler 2010, equation (3), as it stands there.
func poissonRate(bitsPerKey, block float64, k int) float64 {
	load := block / bitsPerKey
	sum := 0.0
	for i := 1.0; i < 20*load+50; i++ {
		log, _ := math.Lgamma(i + 1)
		sum += math.Exp(i*math.Log(load)-load-log) * math.Pow(-math.Expm1(float64(k)*i*math.Log1p(-1/block)), float64(k))
	}
	return sum
}

func TestPutzeEquation3(t *testing.T) {
	const n = 1 << 40 // with that many blocks the load is Poisson
	for _, block := range []uint64{64, 512, 4096} {
		for _, c := range []uint64{1, 4, 8, 12, 16, 32, 64} {
			for _, k := range []int{1, 3, 6, 11, 16} {
				got, want := anyBitsFPRate(c*n, block, k, n), poissonRate(float64(c), float64(block), k)
				if !fixture.Near(got, want, 1e-7) {
					t.Errorf("block=%d m/n=%d k=%d: %.10g, want %.10g", block, c, k, got, want)
				}
			}
		}
	}
}

// Table I: the whole bits per key that a filter in blocks of 512 bits needs to be
// as good as a plain one with 5, 6, … 34 bits per key. The table takes
// k = (m/n) ln 2, rounded; with the best k fewer bits do.
func TestPutzeTable1(t *testing.T) {
	table := []uint64{6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 20, 21, 23, 25, 26, 28, 30, 32, 35, 38, 40, 44, 48, 51, 58, 64, 74, 90}
	const n = 1 << 40
	for i, want := range table {
		plain := uint64(5 + i)
		goal := FPRate(plain*n, BestK(plain*n, n), n)
		got := plain
		for anyBitsFPRate(got*n, 512, int(math.Round(float64(got)*math.Ln2)), n) > goal {
			got++
		}
		if got != want {
			t.Errorf("as good as %d bits per key: %d, want %d", plain, got, want)
		}
		if m := anyBitsSize(n, 512, goal); m > want*n || plain == 34 && (m+n-1)/n != 51 {
			t.Errorf("with the best k: %d bits per key for a rate of %g, the table has %d", (m+n-1)/n, goal, want)
		}
	}
}

func TestLoadAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		m, block uint64
		k        int
		n        uint64
		trials   int
	}{
		{512, 512, 6, 50, 4000},
		{1024, 512, 6, 100, 4000},
		{1 << 16, 512, 6, 6500, 60},
		{1 << 16, 256, 4, 8000, 60},
		{1 << 17, 4096, 8, 11000, 40},
		{1 << 16, 512, 3, 1500, 120},
	} {
		t.Run(fmt.Sprintf("m=%d/block=%d/k=%d/n=%d", c.m, c.block, c.k, c.n), func(t *testing.T) {
			r := newRand(3)
			blocks := c.m / c.block
			load := make([]uint64, blocks)
			b := newBits(c.block)
			var rate sample
			for range c.trials {
				clear(load)
				for range c.n {
					load[r.Uint64N(blocks)]++
				}
				sum := 0.0
				for _, i := range load {
					b.clear()
					b.addKeys(r, c.k, i)
					sum += FPRateAtFill(float64(b.ones)/float64(c.block), c.k)
				}
				rate.add(sum / float64(blocks))
			}
			rate.wantMean(t, anyBitsFPRate(c.m, c.block, c.k, c.n), 0.03)
		})
	}
}

func TestLoadEdges(t *testing.T) {
	if got, want := anyBitsFPRate(512, 512, 6, 50), independentRate(512, 6, 50); got != want {
		t.Errorf("one block: %g, want the plain rate %g", got, want)
	}
	if got, want := anyBitsFPRate(1100, 512, 6, 50), anyBitsFPRate(1024, 512, 6, 50); got != want {
		t.Errorf("with bits beyond the last block: %g, want %g", got, want)
	}
	if got := anyBitsFPRate(1<<63, 1, 1, 0); got != 0 {
		t.Errorf("no keys: %g, want 0", got)
	}
	if got := anyBitsFPRate(128, 64, 6, math.MaxUint64); got != 1 {
		t.Errorf("far too many keys: %g, want 1", got)
	}
	// One key: its own block, with one key in it.
	if got, want := anyBitsFPRate(1<<40, 512, 6, 1), independentRate(512, 6, 1)*512/(1<<40); !fixture.Near(got, want, 1e-9) {
		t.Errorf("one key: %g, want %g", got, want)
	}
	// The two ways to average meet at a mean load of 2^16.
	const block = 1 << 20
	below, above := anyBitsFPRate(1<<30, block, 11, 1<<26), anyBitsFPRate(1<<30, block, 11, 1<<26+1)
	if !fixture.Near(below, above, 1e-6) {
		t.Errorf("mean load 2^16: %.10g, just above %.10g", below, above)
	}
}
