package window_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/plan"
)

// TestRates measures windows in steady flow, many generations long and at several moments of a
// generation. Each rate is within 3 % or 3 sigma of the recursion over the expected fills of
// that moment and never above the goal. With -v it prints the table of docs/kinds/window.md.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		byKeys bool
	}{{0.1, true}, {0.01, true}, {0.001, true}, {0.1, false}, {0.01, false}, {0.001, false}} {
		g := umbel.Goal{Keys: 4000, FPRate: c.rate}
		s, err := window.Plan(g, 600)
		name := "by time"
		if c.byKeys {
			s, err = window.PlanKeys(g)
			name = "by keys"
		}
		if err != nil {
			t.Fatal(err)
		}
		f := mustNew(t, s)
		keys, ask := source(1), source(2)
		for range 40_000 { // steady flow
			next(t, f, keys())
		}
		for _, moment := range []float64{0.02, 0.25, 0.5, 0.75, 1} {
			var sum, squares, want float64
			const generations = 20
			queries := int(10_000 + 30/c.rate)
			for range generations {
				for start := f.Now(); f.Now() == start; {
					next(t, f, keys())
				}
				// So many bits are in the newest slice at that moment.
				for bits := uint64(math.Ceil(moment * float64(s.Limit))); ones(f) < bits; {
					for range bits - ones(f) { // a key sets one at most
						f.Add(keys())
					}
				}
				yes := 0
				for range queries {
					if f.Has(ask()) {
						yes++
					}
				}
				r := float64(yes) / float64(queries)
				sum += r / generations
				squares += r * r / generations
				want += window.FPRateAt(fillsAt(s, float64(ones(f))), s.K) / generations
			}
			sigma := math.Sqrt(max(0, squares-sum*sum)/generations) + 1e-9
			t.Logf("%s, k=%d l=%d, rate %g: at %.2f of a generation %.6f measured, sigma %.6f, theory %.6f",
				name, s.K, s.L, c.rate, moment, sum, sigma, want)
			if d := math.Abs(sum - want); d > max(0.03*want, 3*sigma) {
				t.Errorf("measured %.6f with a sigma of %.6f, theory %.6f", sum, sigma, want)
			}
			if sum > c.rate+3*sigma {
				t.Errorf("measured %.6f, above the goal of %g", sum, c.rate)
			}
		}
	}
}

// next adds a key. A window by time gets it when it accepts it.
func next(t *testing.T, f *window.Filter, d umbel.Digest) {
	t.Helper()
	if _, err := f.TryAdd(d); err != nil {
		if err := f.Advance(f.Now() + f.Shape().Ticks); err != nil {
			t.Fatal(err)
		}
		f.Add(d)
	}
}

// source returns a stream of digests.
func source(seed uint64) func() umbel.Digest {
	var buffer []umbel.Digest
	return func() umbel.Digest {
		if len(buffer) == 0 {
			seed += 1000
			buffer = digests(seed, 4096)
		}
		d := buffer[0]
		buffer = buffer[1:]
		return d
	}
}

// ones counts the bits of the newest slice, which it finds as the specification states.
func ones(f *window.Filter) uint64 {
	s := f.Shape()
	g := f.Now()
	if s.Ticks != 0 {
		g /= s.Ticks
	}
	first := g % uint64(s.K+s.L) * s.Slice
	a := f.State().Arrays[0]
	var n uint64
	for i := range s.Slice {
		if a.Bit(first + i) {
			n++
		}
	}
	return n
}

// fillsAt returns the expected fills if the newest slice has the given bits and all earlier
// generations had Limit keys.
func fillsAt(s window.Shape, bits float64) []float64 {
	whole := math.Log1p(-float64(s.Limit) / float64(s.Slice))
	part := math.Log1p(-bits / float64(s.Slice))
	fills := make([]float64, s.K+s.L)
	for age := range fills {
		// Of k generations the slice has, the newest is the running one while age < k.
		fills[age] = -math.Expm1(whole * float64(s.K))
		if age < s.K {
			fills[age] = -math.Expm1(whole*float64(age) + part)
		}
	}
	return fills
}

// TestRateOfKeysAtOnce: a window by time with all its keys in one generation keeps the rate.
func TestRateOfKeysAtOnce(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01} {
		g := umbel.Goal{Keys: 4000, FPRate: rate}
		s, err := window.Plan(g, 600)
		if err != nil {
			t.Fatal(err)
		}
		want := plan.FPRateAtFill(plan.Filter{M: s.Slice, K: 1}.Fill(g.Keys), s.K)
		var got, n float64
		ask := source(3)
		for seed := range uint64(20) {
			f := mustNew(t, s)
			for _, d := range digests(seed, int(g.Keys)) {
				f.Add(d)
			}
			for range 50_000 {
				n++
				if f.Has(ask()) {
					got++
				}
			}
		}
		got /= n
		if sigma := math.Sqrt(want / n); math.Abs(got-want) > max(0.03*want, 3*sigma) || got > rate+3*sigma {
			t.Errorf("rate %.5f, theory %.5f, goal %g", got, want, rate)
		}
	}
}

// TestStatsInFlow: the bounds of Keys enclose the number of keys of a filter in steady flow in
// 95 % of the cases.
func TestStatsInFlow(t *testing.T) {
	s, err := window.Plan(umbel.Goal{Keys: 500, FPRate: 0.02}, 100)
	if err != nil {
		t.Fatal(err)
	}
	f := mustNew(t, s)
	keys := source(4)
	var times []uint64 // of keys
	inside, rounds := 0, 0
	for i := range 40_000 {
		next(t, f, keys())
		times = append(times, f.Now()/s.Ticks)
		if i < 5000 || i%17 != 0 {
			continue
		}
		n := 0.0
		for j := len(times) - 1; j >= 0 && times[j]+uint64(s.L) >= times[i]; j-- {
			n++
		}
		rounds++
		if st := f.Stats(); st.Low <= n && n <= st.High {
			inside++
		}
	}
	if share := float64(inside) / float64(rounds); math.Abs(share-0.95) > 0.025 {
		t.Errorf("%.4f of %d intervals hold the number of keys, want 0.95", share, rounds)
	}
}
