package redisbloom_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// TestRates measures layers at their capacity. The rate is within 4 % or 3 sigma of the
// forecast, which includes double hashing, or within 10 % if double hashing causes most of the
// rate. It is printed next to the reserved rate, which RedisBloom plans with. With -v it prints
// the table of docs/kinds/redisbloom.md.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Logf("%8s %9s %8s %3s %10s %10s %10s %10s", "keys", "reserved", "bits", "k", "measured", "sigma", "forecast", "measured / reserved")
	for _, c := range []struct {
		keys             uint64
		rate             float64
		filters, queries int
	}{
		{10, 0.01, 10000, 2000},
		{10, 0.001, 10000, 1500},
		{100, 0.05, 3000, 2000},
		{100, 0.01, 3000, 5000},
		{100, 0.0001, 600, 20000},
		{1000, 0.01, 100, 50000},
		{1000, 0.0001, 50, 200000},
		{10000, 0.01, 10, 200000},
		{10000, 0.0001, 5, 800000},
	} {
		o := redisbloom.Options{ErrorRate: c.rate, Capacity: c.keys, NonScaling: true}
		var sum, squares float64
		for i := range c.filters {
			f := reserve(t, o)
			addAll(f, digests(uint64(2*i), int(c.keys)))
			p := rate(f, uint64(2*i+1), c.queries)
			sum, squares = sum+p, squares+p*p
		}
		n := float64(c.filters)
		got := sum / n
		sigma := max(math.Sqrt((squares/n-got*got)/(n-1)), math.Sqrt(got/n/float64(c.queries)))
		want := o.Forecast(c.keys).FPRate
		f := reserve(t, o)
		t.Logf("%8d %9g %8d %3.0f %10.4g %10.2g %10.4g %10.2f", c.keys, c.rate, f.Stats().Cells, f.Stats().K, got, sigma, want, got/c.rate)
		within := max(0.04*want, 3*sigma)
		if want > 1.1*c.rate {
			within = max(0.1*want, within)
		}
		if math.Abs(got-want) > within {
			t.Errorf("%+v: measured %.4g with a sigma of %.2g, forecast %.4g", c, got, sigma, want)
		}
	}
}

// rate returns the fraction of random digests for which Has is true.
func rate(f *redisbloom.Filter, seed uint64, queries int) float64 {
	yes := 0
	for _, d := range digests(1<<32+seed, queries) {
		if f.Has(d) {
			yes++
		}
	}
	return float64(yes) / float64(queries)
}

// TestPlanMeetsRate: Plan reserves more keys if double hashing would miss the goal. Otherwise it
// has RedisBloom's own size.
func TestPlanMeetsRate(t *testing.T) {
	for _, g := range []umbel.Goal{{Keys: 1000, FPRate: 0.01}, {Keys: 100, FPRate: 0.01}, {Keys: 1e6, FPRate: 1e-6}} {
		o, err := redisbloom.Plan(g)
		if err != nil || o.Capacity != g.Keys || o.ErrorRate != g.FPRate {
			t.Errorf("%+v: %+v, %v", g, o, err)
		}
	}
	g := umbel.Goal{Keys: 100, FPRate: 1e-4}
	o, err := redisbloom.Plan(g)
	if err != nil || o.Capacity <= g.Keys {
		t.Fatalf("%+v: %+v, %v", g, o, err)
	}
	yes := 0.0
	for i := range 500 {
		f := reserve(t, o)
		addAll(f, digests(uint64(2*i), int(g.Keys)))
		yes += rate(f, uint64(2*i+1), 20000) / 500
	}
	if yes > g.FPRate*1.1 {
		t.Errorf("%+v: measured %.3g", o, yes)
	}
}
