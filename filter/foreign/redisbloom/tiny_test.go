package redisbloom_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// TestStatsAfterFullLayer: a file may contain a full layer before an empty one. Every key is then a
// false positive, and the number of keys has no upper bound; it was not a number.
func TestStatsAfterFullLayer(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.1, Capacity: 10})
	addAll(f, digests(1, 15))
	s := f.State().Clone()
	for i, p := range s.Parts {
		for j := range p.Arrays[0].Words {
			p.Arrays[0].Words[j] = ^uint64(0) * uint64(1-i)
		}
	}
	g, err := redisbloom.Open(s)
	if err != nil || len(s.Parts) != 2 {
		t.Fatalf("%d layers, %v", len(s.Parts), err)
	}
	if s := g.Stats(); !math.IsInf(s.Keys, 1) || !math.IsInf(s.High, 1) || !(s.Low > 0) || s.FPRate != 1 {
		t.Errorf("%+v, want a rate of 1 and infinitely many keys", s)
	}
}

// TestTinyLayers measures layers of 64 to 320 bits, in which positions often repeat, at their
// capacity and half of it. The forecast and the mean of Stats are within 10 percent of the rate.
// The seeds are fixed.
func TestTinyLayers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		rate           float64
		capacity, keys uint64
	}{{0.1, 10, 10}, {0.1, 10, 5}, {0.05, 10, 10}, {0.01, 5, 5}, {0.01, 10, 10}, {0.01, 10, 5}, {0.001, 10, 10}, {0.02, 25, 25}, {0.001, 20, 20}, {0.05, 100, 100}} {
		const filters, queries = 3000, 1000
		o := redisbloom.Options{ErrorRate: c.rate, Capacity: c.capacity, NonScaling: true}
		var sum, squares, stated float64
		s := reserve(t, o).Stats()
		for i := range filters {
			f := reserve(t, o)
			addAll(f, digests(uint64(2*i), int(c.keys)))
			p := rate(f, uint64(2*i+1), queries)
			sum, squares, stated = sum+p, squares+p*p, stated+f.Stats().FPRate/filters
		}
		got := sum / filters
		sigma := math.Sqrt((squares/filters - got*got) / (filters - 1))
		planned := o.Forecast(c.keys).FPRate
		t.Logf("%d keys of %d at %g, %d bits, k=%.0f: measured %.5g ± %.2g; forecast %.3f, Stats %.3f of it",
			c.keys, c.capacity, c.rate, s.Cells, s.K, got, sigma, planned/got, stated/got)
		for _, p := range []float64{planned, stated} {
			if math.Abs(p-got) > 0.1*got+3*sigma {
				t.Errorf("%+v: %.4g, measured %.4g ± %.2g", c, p, got, sigma)
			}
		}
	}
}
