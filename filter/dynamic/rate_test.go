package dynamic

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// rateOfAll returns the rate of a filter with any number of layers.
func rateOfAll(m uint64, k int, capacity, n uint64) float64 {
	_, p := expectedLayers(m, k, capacity, n, math.MaxUint64)
	return p
}

// Guo et al. 2006: the rate of a row of equal filters is that of one filter within its
// capacity, and a further full filter adds nearly the rate of one.
func TestGuoRate(t *testing.T) {
	const m, k, capacity = 1280, 7, 133
	full := plan.Filter{M: m, K: k}.FPRate(capacity)
	for _, c := range []struct {
		n    uint64
		want float64
	}{
		{0, 0},
		{60, plan.Filter{M: m, K: k}.FPRate(60)},
		{capacity, full},
		{capacity + 50, plan.CompoundFPRate(full, plan.Filter{M: m, K: k}.FPRate(50))},
		{4 * capacity, plan.CompoundFPRate(full, full, full, full)},
	} {
		if got := rateOfAll(m, k, capacity, c.n); !fixture.Near(got, c.want, 0.07) {
			t.Errorf("%d keys: %g, want about %g", c.n, got, c.want)
		}
	}
	if got := rateOfAll(m, k, capacity, 1<<40); !fixture.Near(got, 1, 1e-7) {
		t.Errorf("a row without end: %g, want 1", got)
	}
	fixture.WantPanic(t, "no cells", func() { rateOfAll(0, 1, 1, 1) })
	fixture.WantPanic(t, "no capacity", func() { rateOfAll(1, 1, 0, 1) })
	fixture.WantPanic(t, "no k", func() { rateOfAll(1, 0, 1, 1) })
}

// TestDynamicLayers: within a capacity there is one layer, the rate rises with the keys and falls
// with the limit of layers, and both forms of the formula agree where one follows the other.
func TestDynamicLayers(t *testing.T) {
	for _, c := range []struct {
		m              uint64
		k              int
		capacity, most uint64
		n, layers      uint64
	}{
		{1280, 7, 133, math.MaxUint64, 0, 1},
		{1280, 7, 133, math.MaxUint64, 133, 1},
		{1280, 7, 133, math.MaxUint64, 134, 2},
		{1280, 7, 133, 3, 10_000, 3},
		{1280, 7, 133, 0, 10_000, 1},
		{1 << 20, 14, 52_000, math.MaxUint64, 520_000, 10}, // independentLayers
		{1 << 20, 14, 52_000, 7, 520_000, 7},
		{1 << 40, 40, 1, math.MaxUint64, 1 << 20, 1 << 20}, // full layers whose rate is 0
		{1, 3, 10, math.MaxUint64, 100, 1},                 // a layer that is full with its only cell
		{1000, 1, 105, math.MaxUint64, 1 << 40, 11},        // layers of a tenth of the cells
	} {
		layers, p := expectedLayers(c.m, c.k, c.capacity, c.n, c.most)
		if layers != c.layers || !(p >= 0 && p <= 1) {
			t.Errorf("%+v: %d layers and a rate of %g", c, layers, p)
		}
	}
	last := 0.0
	for n := uint64(1); n < 1<<62; n += n/16 + 1 {
		p := rateOfAll(9600, 4, 2000, n)
		if p < last || p > 1 {
			t.Errorf("%d keys: a rate of %g after %g", n, p, last)
		}
		last = p
	}
	const m, k, capacity = 19_200, 13, 1000
	fill := plan.Filter{M: m, K: k}.Fill(capacity)
	for _, n := range []uint64{1001, 10_000, 1_000_000, 100_000_000} {
		_, a := independentLayers(plan.FPRateAtFill(fill, k), capacity, m, k, n, math.MaxUint64)
		_, b := dependentLayers(fill, capacity, k, float64(n), math.MaxUint64)
		if !fixture.Near(a, b, 5e-4) {
			t.Errorf("%d keys at %.3g per layer: %.6g and %.6g", n, plan.FPRateAtFill(fill, k), a, b)
		}
	}
}

// TestDynamicAgainstSimulation adds keys to layers with the same positions, as kind dynamic does.
// The rate of a simulated filter is measured with new keys. The seeds are fixed; sigma is about
// 0.1 percent of the rate.
func TestDynamicAgainstSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		m           uint64
		k           int
		capacity, n uint64
		filters     int
	}{
		{9600, 4, 2000, 12_000, 40},
		{9600, 3, 2000, 30_000, 30},
		{2240, 5, 300, 1800, 200},
		{2240, 5, 300, 6000, 100},
		{12_000, 1, 2000, 12_000, 20},
		{640, 6, 60, 210, 400},
	} {
		r := fixture.Rand(c.m + uint64(c.k))
		full := uint64(math.Round(float64(c.m) * plan.Filter{M: c.m, K: c.k}.Fill(c.capacity)))
		var rate, layers fixture.Sample
		for range c.filters {
			row := []*fixture.Cells{fixture.NewCells(c.m)}
			row[0].Clear()
			key := make([]uint64, c.k)
			has := func() bool {
				for i := range key {
					key[i] = r.Uint64N(c.m)
				}
				for _, l := range row {
					if l.HasAll(key) {
						return true
					}
				}
				return false
			}
			for range c.n {
				if has() {
					continue
				}
				if row[len(row)-1].Ones >= full {
					row = append(row, fixture.NewCells(c.m))
					row[len(row)-1].Clear()
				}
				for _, i := range key {
					row[len(row)-1].Set(i)
				}
			}
			const queries = 20_000
			yes := 0.0
			for range queries {
				if has() {
					yes++
				}
			}
			rate.Add(yes / queries)
			layers.Add(float64(len(row)))
		}
		s, p := expectedLayers(c.m, c.k, c.capacity, c.n, math.MaxUint64)
		t.Logf("m=%d, k=%d, %d keys: rate %.5f, measured %.5f ± %.5f; %d layers, measured %.2f",
			c.m, c.k, c.n, p, rate.Mean(), rate.SD()/math.Sqrt(rate.Count), s, layers.Mean())
		rate.WantMean(t, p, 0.01)
		if math.Abs(float64(s)-layers.Mean()) > 0.6 {
			t.Errorf("m=%d, k=%d, %d keys: %d layers, measured %.2f", c.m, c.k, c.n, s, layers.Mean())
		}
	}
}
