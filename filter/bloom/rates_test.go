package bloom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
)

// TestBoseRates compares filters with k from 1 to 16 and of sizes from that of a packet,
// filled to a rate of 1.5 percent, with the exact rate of independent positions: Bose et al.
// 2008. Each is within 3 sigma in 400,000 queries, and all together deviate as expected by
// chance.
func TestBoseRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and many more under the race detector")
	}
	const rate, queries = 0.015, 400_000
	var squares, cases float64
	for _, m := range []uint64{64, 256, 1024, 8192, 65536, 1 << 20} {
		filters := int(max(8, 200_000/m))
		for k := 1; k <= 16; k++ {
			s := bloom.Shape{M: m, K: k}
			if m >= 8192 {
				s.Group = 6
			}
			load := -math.Log1p(-math.Pow(rate, 1/float64(k))) // kn/m
			n := max(1, int(math.Round(load*float64(m)/float64(k))))
			want := plan.Filter{M: m, K: k}.FPRateExact(uint64(n))
			got := measure(t, s, n, filters, queries/filters)

			// The answers are random, and so is the fill of each filter.
			load = float64(n*k) / float64(m)
			empty := math.Exp(-load)
			spread := float64(k) * math.Sqrt(empty*(1-(1+load)*empty)/float64(m)) / (1 - empty)
			sigma := math.Sqrt(want*(1-want)/queries + want*want*spread*spread/float64(filters))
			z := (got - want) / sigma
			if math.Abs(z) > 3 {
				t.Errorf("m=%d, k=%d, n=%d: rate %.5f, want %.5f; %.1f sigma off", m, k, n, got, want, z)
			}
			squares += z * z
			cases++
		}
	}
	if math.Abs(squares-cases) > 4*math.Sqrt(2*cases) {
		t.Errorf("the sum of squared deviations is %.0f sigma², want about %.0f", squares, cases)
	}
}

// measure returns the average rate of filters with n keys each.
func measure(t *testing.T, s bloom.Shape, n, filters, queries int) float64 {
	t.Helper()
	f, err := bloom.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.NewPCG(s.M, uint64(s.K))
	yes := 0
	for range filters {
		f.Clear()
		for range n {
			f.Add(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
		}
		for range queries {
			if f.Has(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}) {
				yes++
			}
		}
	}
	return float64(yes) / float64(filters*queries)
}

// The formula for independent cells is too low for small filters: Bose et al. 2008.
func TestSmallFiltersAreWorseThanTheFormula(t *testing.T) {
	s := bloom.Shape{M: 64, K: 4}
	got := measure(t, s, 8, 20_000, 100)
	simple, mean := plan.FPRateAtFill(plan.Filter{M: 64, K: 4}.Fill(8), 4), plan.Filter{M: 64, K: 4}.FPRate(8)
	if math.Abs(got/mean-1) > 0.01 || got < simple*1.02 {
		t.Errorf("rate %.5f, want %.5f and more than the simple formula's %.5f", got, mean, simple)
	}
}
