package counting_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
)

// TestRates measures filters from which as many keys were removed as stayed: how often Has is
// wrong and Count too high, and how many counters reach a value. Each is within 3 sigma of its
// formula, with seeded keys. With -v it prints the table of docs/kinds/counting.md.
func TestRates(t *testing.T) {
	t.Logf("| keys | cells a key | k | Has wrong | measured | Count too high, measured | counters >= 4 | measured |")
	for _, c := range []struct {
		m       uint64
		k, n    int
		filters int
	}{{512, 5, 64, 400}, {8192, 5, 1000, 40}, {64 * 1500, 7, 10000, 10}, {64 * 1500, 2, 6000, 10}} {
		f := mustNew(t, counting.Shape{M: c.m, K: c.k, Group: 6})
		rng := rand.NewPCG(c.m, uint64(c.k))
		draw := func(n int) []umbel.Digest {
			ds := make([]umbel.Digest, n)
			for i := range ds {
				ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
			}
			return ds
		}
		const j = 4
		queries := 400_000 / c.filters
		var wrong, high, raised float64
		for range c.filters {
			f.Clear()
			stay, gone := draw(c.n), draw(c.n)
			for i := range stay {
				f.Add(gone[i])
				f.Add(stay[i])
			}
			for _, d := range gone {
				if !f.Remove(d) {
					t.Fatal("a key isn't removed")
				}
			}
			for _, d := range draw(queries) {
				if f.Has(d) {
					wrong++
				}
			}
			for _, d := range stay {
				if n, _ := f.Count(d); n > 1 {
					high++
				}
			}
			raised += float64(f.State().Arrays[0].Histogram(j)[j])
		}
		n := uint64(c.n)
		filters := float64(c.filters)
		// The answers are random, and so is the fill of each filter.
		load := float64(c.n*c.k) / float64(c.m)
		empty := math.Exp(-load)
		spread := float64(c.k) * math.Sqrt(empty*(1-(1+load)*empty)/float64(c.m)) / (1 - empty)
		rate := plan.Filter{M: c.m, K: c.k}.FPRateExact(n)
		within := func(what string, got, want, trials float64) float64 {
			t.Helper()
			sigma := math.Sqrt(want*(1-want)/trials + want*want*spread*spread/filters)
			if math.Abs(got-want) > 3*sigma {
				t.Errorf("m=%d, k=%d, n=%d: %s is %.6f, want %.6f, %.1f sigma off", c.m, c.k, c.n, what, got, want, (got-want)/sigma)
			}
			return sigma
		}
		total := float64(c.filters * queries)
		sigma := within("the rate", wrong/total, rate, total)
		// Count is too high if other keys have all cells of a key. The formula ignores keys
		// with two positions at one cell: a fraction of k²/2m.
		within("the share of counts too high", high/filters/float64(c.n), plan.Filter{M: c.m, K: c.k}.FPRateExact(n-1), filters*float64(c.n))
		mean := counting.Shape{M: c.m, K: c.k}.Overflow(n, j)
		if got := raised / filters; math.Abs(got-mean) > 3*math.Sqrt(mean/filters) {
			t.Errorf("m=%d, k=%d, n=%d: %.2f counters of %d or more, want %.2f", c.m, c.k, c.n, got, j, mean)
		}
		t.Logf("| %d | %.2f | %d | %.4f | %.4f ± %.4f | %.4f | %.1f | %.1f ± %.1f |", c.n, float64(c.m)/float64(c.n), c.k, rate,
			wrong/total, sigma, high/filters/float64(c.n), mean, raised/filters, math.Sqrt(mean/filters))
	}
}
