package incremental_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/research/baselines/incremental"
)

var (
	_ umbel.Filter           = (*incremental.Filter)(nil)
	_ umbel.Planner          = (*incremental.Filter)(nil)
	_ umbel.Grower           = (*incremental.Filter)(nil)
	_ umbel.GrowthForecaster = (*incremental.Filter)(nil)
	_ umbel.Clearer          = (*incremental.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, incremental.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, incremental.Kind) }

func mustNew(t testing.TB, s incremental.Shape) *incremental.Filter {
	t.Helper()
	f, err := incremental.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustPlan(t testing.TB, n uint64, p float64) incremental.Shape {
	t.Helper()
	s, err := incremental.Plan(umbel.Goal{Keys: n, FPRate: p})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The state has the open layers: it grows with the keys, and its average size over all numbers of
// keys is that of the plan, except for whole words and room for chance.
func TestSizeGrowsWithKeys(t *testing.T) {
	const n, p = 20_000, 0.01
	s := mustPlan(t, n, p)
	f := mustNew(t, s)
	var mean, last float64
	for _, d := range fixture.Digests(1, n) {
		f.Add(d)
		bytes := float64(f.State().Bytes())
		if bytes < last {
			t.Fatalf("from %g bytes to %g", last, bytes)
		}
		last = bytes
		mean += bytes / n
	}
	if got := len(f.State().Parts); got != len(s.Layers) {
		t.Errorf("%d planes are open, want %d", got, len(s.Layers))
	}
	_, want, err := incremental.Divide(n, p, 0, 64, 256)
	if err != nil {
		t.Fatal(err)
	}
	if got := mean * 8; got < want || got > 1.03*want {
		t.Errorf("mean of %.0f bits, the plan's is %.0f", got, want)
	}
}

// TryAdd accepts all planned keys and keeps the rate; then it refuses keys and changes nothing.
// Add continues and loses none.
func TestTryAdd(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
	}{{1, 0.5}, {50, 0.2}, {200, 0.01}, {5000, 0.001}} {
		for seed := range uint64(10) {
			s := mustPlan(t, c.n, c.p)
			f := mustNew(t, s)
			ds := fixture.Digests(seed, 3*int(c.n)+40)
			taken := 0
			for ; taken < len(ds); taken++ {
				if _, err := f.TryAdd(ds[taken]); err != nil {
					if !errors.Is(err, umbel.ErrLimit) {
						t.Fatal(err)
					}
					break
				}
			}
			if taken < int(c.n) || taken == len(ds) {
				t.Errorf("n=%d: %d keys are taken", c.n, taken)
			}
			if st := f.Stats(); st.FPRate > c.p*(1+1e-9) {
				t.Errorf("n=%d: full, the rate is %g, want at most %g", c.n, st.FPRate, c.p)
			}
			before := f.State().Clone()
			if _, err := f.TryAdd(ds[taken]); err == nil || !before.Parts[0].Arrays[0].Equal(f.State().Parts[0].Arrays[0]) {
				t.Errorf("n=%d: refused once and taken then, or changed", c.n)
			}
			if ok, err := f.TryAdd(ds[0]); ok || err != nil {
				t.Errorf("n=%d: what is there already: %v, %v", c.n, ok, err)
			}
			for _, d := range ds {
				f.Add(d)
			}
			for _, d := range ds {
				if !f.Has(d) {
					t.Fatalf("n=%d: a key is lost", c.n)
				}
			}
		}
	}
}

// The rate never exceeds the goal on the way to the maximum. -v prints them.
func TestRates(t *testing.T) {
	for _, p := range []float64{0.1, 0.01, 0.001} {
		const n = 10_000
		s := mustPlan(t, n, p)
		for _, share := range []float64{0.1, 0.25, 0.5, 0.75, 1} {
			keys := int(n * share)
			var yes, total, bytes float64
			for seed := range uint64(5) {
				f := mustNew(t, s)
				for _, d := range fixture.Digests(2*seed, keys) {
					f.Add(d)
				}
				bytes = float64(f.State().Bytes())
				for _, d := range fixture.Digests(2*seed+1, int(30_000+40/p)) {
					total++
					if f.Has(d) {
						yes++
					}
				}
			}
			got, want := yes/total, s.Forecast(uint64(keys)).FPRate
			sigma := math.Sqrt((want + 1e-6) / total)
			t.Logf("rate %g, %d planes, %5d keys: %.6f measured, sigma %.6f, theory %.6f, %.0f bytes", p, len(s.Layers), keys, got, sigma, want, bytes)
			if math.Abs(got-want) > max(0.03*want, 3*sigma) || got > p+3*sigma {
				t.Errorf("measured %.6f with a sigma of %.6f, theory %.6f", got, sigma, want)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	f := mustNew(t, mustPlan(t, 1000, 0.01))
	for _, d := range fixture.Digests(1, 600) {
		f.Add(d)
	}
	for name, change := range map[string]func(*umbel.State){
		"more parts than planes":   func(s *umbel.State) { s.Parts = append(slices.Repeat(s.Parts[:1], 20), s.Parts...) },
		"parts in another order":   func(s *umbel.State) { s.Parts[0].Params[0].Value = umbel.Uint(1) },
		"a plane without limit":    func(s *umbel.State) { s.Params[3].Value = umbel.Uint(0) },
		"a limit beyond the plane": func(s *umbel.State) { s.Params[3].Value = umbel.Uint(1 << 40) },
		"a plane to come that would take all memory": func(s *umbel.State) {
			s.Params[len(s.Params)-3].Value = umbel.Uint(1 << 50)
		},
		"a large plane full with one bit, and another to come": func(s *umbel.State) {
			s.Params = umbel.Params{
				{Name: "planes", Value: umbel.Uint(3)},
				{Name: "cells-1", Value: umbel.Uint(s.Parts[0].Arrays[0].Len)}, s.Params[2], s.Params[3],
				{Name: "cells-2", Value: umbel.Uint(8192)}, {Name: "k-2", Value: umbel.Uint(1)}, {Name: "limit-2", Value: umbel.Uint(1)},
				{Name: "cells-3", Value: umbel.Uint(8192)}, {Name: "k-3", Value: umbel.Uint(1)}, {Name: "limit-3", Value: umbel.Uint(4096)},
			}
			s.Parts = s.Parts[:1]
		},
		"planes of which none is described": func(s *umbel.State) { s.Params[0].Value = umbel.Uint(60) },
	} {
		s := f.State().Clone()
		change(&s)
		if _, err := incremental.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want an error that wraps %q", name, err, umbel.ErrCorrupt)
		}
	}
}
