package redisbloom_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/filter/redisbloom"
)

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
		const filters, queries = 8000, 1000
		o := redisbloom.Options{ErrorRate: c.rate, Capacity: c.capacity, NonScaling: true}
		var sum, squares, stated float64
		var s = reserve(t, o).Stats()
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
