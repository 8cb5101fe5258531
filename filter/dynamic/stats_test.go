package dynamic_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestStatsOfDependentLayers: at high rates of the layers, later layers avoid the cells of the
// earlier ones and contain fewer keys. Stats and Forecast have the measured rate, and the interval
// contains the number of keys as often as it states. The seeds are fixed; sigma is that of the
// measured rate.
func TestStatsOfDependentLayers(t *testing.T) {
	for _, c := range []struct {
		kind             umbel.Kind
		keys             uint64
		rate             float64
		added            int
		filters, queries int
	}{
		{dynamic.Kind, 2000, 0.1, 12_000, 120, 10_000},
		{dynamic.Kind, 1000, 0.2, 3000, 200, 20_000},
		{dynamic.Kind, 300, 0.03, 1800, 200, 5000},
		{dynamic.Kind, 300, 0.004, 3000, 200, 5000},
		{removable, 2000, 0.1, 12_000, 20, 10_000},
	} {
		var measured, stated, counted, inside, planned float64
		for i := range c.filters {
			f := fixture.Must(c.kind.New(umbel.Goal{Keys: c.keys, FPRate: c.rate}, nil)).(row)
			f.AddAll(nil, fixture.Digests(uint64(2*i+1), c.added))
			measured += rate(f, uint64(2*i+2), c.queries) / float64(c.filters)
			s := f.Stats()
			stated += s.FPRate / float64(c.filters)
			counted += s.Keys / float64(c.filters) / float64(c.added)
			if s.Low <= float64(c.added) && float64(c.added) <= s.High {
				inside += 1 / float64(c.filters)
			}
			planned = f.Shape().Forecast(uint64(c.added)).FPRate
		}
		sigma := math.Sqrt(measured*(1-measured)/float64(c.filters*c.queries)) / measured
		t.Logf("%T, %d keys for %d at %v: measured %.5f ± %.2f %%; stated %.4f, forecast %.4f of that; %.4f of the keys, %.0f %% inside",
			c.kind, c.added, c.keys, c.rate, measured, 100*sigma, stated/measured, planned/measured, counted, 100*inside)
		if math.Abs(stated/measured-1) > 0.003+3*sigma {
			t.Errorf("%d keys at %v: FPRate is %.4f of the measured rate", c.keys, c.rate, stated/measured)
		}
		if math.Abs(planned/measured-1) > 0.01+3*sigma {
			t.Errorf("%d keys at %v: the forecast is %.4f of the measured rate", c.keys, c.rate, planned/measured)
		}
		if math.Abs(counted-1) > 0.003 {
			t.Errorf("%d keys at %v: Keys is %.4f of the number of keys", c.keys, c.rate, counted)
		}
		if inside < 0.88 {
			t.Errorf("%d keys at %v: the interval contains the number of keys in %.0f %% of filters", c.keys, c.rate, 100*inside)
		}
	}
}

// TestStatsOfMergedLayers: the rate is also right if the layers were filled independently.
func TestStatsOfMergedLayers(t *testing.T) {
	const filters, queries = 20, 40_000
	for _, compact := range []bool{false, true} {
		var measured, stated float64
		for i := range uint64(filters) {
			f, g := fixture.Must(dynamic.New(2000, 0.1)), fixture.Must(dynamic.New(2000, 0.1))
			f.AddAll(nil, fixture.Digests(3*i+1, 5000))
			g.AddAll(nil, fixture.Digests(3*i+2, 5000))
			if err := f.Merge(g.State()); err != nil {
				t.Fatal(err)
			}
			if compact {
				if err := f.Compact(0.7); err != nil {
					t.Fatal(err)
				}
			}
			measured += rate(f, 3*i+3, queries) / filters
			stated += f.Stats().FPRate / filters
		}
		sigma := math.Sqrt(measured*(1-measured)/filters/queries) / measured
		t.Logf("compacted %v: measured %.4f ± %.2f %%, stated %.4f of that", compact, measured, 100*sigma, stated/measured)
		if math.Abs(stated/measured-1) > 0.005+3*sigma {
			t.Errorf("compacted %v: FPRate is %.4f of the measured rate", compact, stated/measured)
		}
	}
}

// BenchmarkStats measures filters of ten layers whose dependence is measured, and is not.
func BenchmarkStats(b *testing.B) {
	for _, p := range []float64{0.1, 0.0001} {
		b.Run(fmt.Sprint(p), func(b *testing.B) {
			f := fixture.Must(dynamic.New(20_000, p))
			f.AddAll(nil, fixture.Digests(1, 200_000))
			b.ReportAllocs()
			for b.Loop() {
				f.Stats()
			}
		})
	}
}
