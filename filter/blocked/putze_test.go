package blocked

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// independent returns the rate of a plain filter by the formula for independent cells.
func independent(m uint64, k int, n uint64) float64 {
	return plan.FPRateAtFill(plan.Filter{M: m, K: k}.Fill(n), k)
}

// anyBitsFPRate is the rate of a filter that sets k bits anywhere in one of m/block
// blocks: Putze, Sanders and Singler 2010, equation (3), with a binomial load.
func anyBitsFPRate(m, block uint64, k int, n uint64) float64 {
	return occupancy.OverLoad(n, m/block, func(load float64) float64 {
		return plan.FPRateAtFill(occupancy.Fill(float64(block), float64(k)*load), k)
	})
}

// anyBitsSize returns the least m for a rate of at most p, over all k.
func anyBitsSize(n, block uint64, p float64) uint64 {
	m, _, _ := planning.LeastSize(n, p, 1, planning.HighestK(p), func(int) uint64 { return block },
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
		goal := plan.Filter{M: plain * n, K: plan.BestK(plain*n, n)}.FPRate(n)
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
			r := fixture.Rand(3)
			blocks := c.m / c.block
			load := make([]uint64, blocks)
			b := fixture.NewCells(c.block)
			var rate fixture.Sample
			for range c.trials {
				clear(load)
				for range c.n {
					load[r.Uint64N(blocks)]++
				}
				sum := 0.0
				for _, i := range load {
					b.Clear()
					b.AddKeys(r, c.k, i)
					sum += plan.FPRateAtFill(b.Fill(), c.k)
				}
				rate.Add(sum / float64(blocks))
			}
			rate.WantMean(t, anyBitsFPRate(c.m, c.block, c.k, c.n), 0.03)
		})
	}
}

func TestLoadEdges(t *testing.T) {
	if got, want := anyBitsFPRate(512, 512, 6, 50), independent(512, 6, 50); got != want {
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
	if got, want := anyBitsFPRate(1<<40, 512, 6, 1), independent(512, 6, 1)*512/(1<<40); !fixture.Near(got, want, 1e-9) {
		t.Errorf("one key: %g, want %g", got, want)
	}
	// The two ways to average meet at a mean load of 2^16.
	const block = 1 << 20
	below, above := anyBitsFPRate(1<<30, block, 11, 1<<26), anyBitsFPRate(1<<30, block, 11, 1<<26+1)
	if !fixture.Near(below, above, 1e-6) {
		t.Errorf("mean load 2^16: %.10g, just above %.10g", below, above)
	}
}
