package scalable_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/internal/fixture"
)

func mustPlan(t testing.TB, g umbel.Goal, ps umbel.Params) *scalable.Filter {
	t.Helper()
	f, err := scalable.Kind.New(g, ps)
	if err != nil {
		t.Fatal(err)
	}
	return f.(*scalable.Filter)
}

func wantAll(t testing.TB, f umbel.Filter, ds []umbel.Digest, what string) {
	t.Helper()
	for i, d := range ds {
		if !f.Has(d) {
			t.Fatalf("%s: Has is false for key %d of %d: a false negative", what, i, len(ds))
		}
	}
}

func rate(f umbel.Filter, seed uint64, queries int) float64 {
	yes := 0
	for _, d := range fixture.Digests(seed, queries) {
		if f.Has(d) {
			yes++
		}
	}
	return float64(yes) / float64(queries)
}

func equal(a, b umbel.State) bool {
	if len(a.Parts) != len(b.Parts) || !slices.Equal(a.Params, b.Params) {
		return false
	}
	for i := range a.Parts {
		if !slices.Equal(a.Parts[i].Params, b.Parts[i].Params) || !a.Parts[i].Arrays[0].Equal(b.Parts[i].Arrays[0]) {
			return false
		}
	}
	return true
}

// Almeida et al. 2007, section 3: the compound rate stays below the planned one however far the
// filter grows; it is that of the forecast; and no key is lost. At 100
// times its first capacity, at 1 % and below, it takes at most 2.5 times the memory of
// the bloom filter planned for as many keys. Run with -v it prints the rates.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second, and many more under the race detector")
	}
	const first, queries = 1000, 500_000
	for _, c := range []struct {
		goal float64
		ps   umbel.Params
	}{
		{0.05, nil},
		{0.01, nil},
		{0.001, nil},
		{0.01, umbel.Params{{Name: "tightening", Value: umbel.Float(0.5)}}},
		{0.01, umbel.Params{{Name: "growth", Value: umbel.Uint(4)}}},
	} {
		f := mustPlan(t, umbel.Goal{Keys: first, FPRate: c.goal}, c.ps)
		ds := fixture.Digests(1, 100*first)
		for i, times := range []int{1, 10, 100} {
			f.AddAll(nil, ds[:times*first])
			wantAll(t, f, ds[:times*first], "grown")
			fc, got := f.Shape().Forecast(uint64(times*first)), rate(f, uint64(2+i), queries)
			sigma := math.Sqrt(fc.FPRate / queries)
			s := f.Stats()
			planned, err := bloom.Plan(umbel.Goal{Keys: uint64(times * first), FPRate: c.goal})
			if err != nil {
				t.Fatal(err)
			}
			memory := float64(s.Bytes) / float64(planned.M/8)
			t.Logf("f=%g %v, %6d keys: %d layers, planned %.5f, estimated %.5f, measured %.5f ± %.5f, %.2f times the memory",
				c.goal, c.ps, times*first, len(f.Layers()), fc.FPRate, s.FPRate, got, sigma, memory)
			if got > c.goal {
				t.Errorf("%d keys: rate %.5f, want at most %g", times*first, got, c.goal)
			}
			// The fill of one filter differs from the average, and so does its rate.
			if d := math.Abs(got - fc.FPRate); d > 0.06*fc.FPRate+3*sigma {
				t.Errorf("%d keys: rate %.5f, forecast %.5f", times*first, got, fc.FPRate)
			}
			if d := math.Abs(got - s.FPRate); d > 0.03*s.FPRate+3*sigma {
				t.Errorf("%d keys: rate %.5f, estimated %.5f", times*first, got, s.FPRate)
			}
			if math.Abs(s.Keys-float64(times*first)) > 0.03*float64(times*first) {
				t.Errorf("%d keys are estimated to be %.0f", times*first, s.Keys)
			}
			if c.goal <= 0.01 && c.ps == nil && times == 100 && memory > 2.5 {
				t.Errorf("%.2f times the memory of a bloom filter planned for %d keys, want at most 2.5", memory, times*first)
			}
			if fc.Bytes != s.Bytes || fc.K != s.K {
				t.Errorf("%d keys take %d bytes, k=%g; the forecast was %d, %g", times*first, s.Bytes, s.K, fc.Bytes, fc.K)
			}
		}
	}
}

// Almeida et al. 2007, section 3: P_i = P_0 r^i, k_i = ceil(log2 1/P_i), sizes by the growth. The
// k of the layers is computed in integers and is that of the formula.
func TestAlmeidaLayers(t *testing.T) {
	f := mustPlan(t, umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	f.AddAll(nil, fixture.Digests(1, 50_000))
	layers := f.Layers()
	if len(layers) < 8 {
		t.Fatalf("%d layers, want 8 or more", len(layers))
	}
	const p0 = 0.01 * (1 - 0.85)
	slice := f.Shape().Slice
	for i, l := range layers {
		k := int(math.Ceil(-math.Log2(p0) - float64(i)*math.Log2(0.85)))
		if l.K != k || l.M != uint64(k)*slice || l.Group != 6 {
			t.Errorf("layer %d is %+v, want %d slices of %d cells in whole words", i, l, k, slice)
		}
		slice *= 2
	}
}

// The keys of the goal do not start a second layer.
func TestFirstLayerHoldsTheGoal(t *testing.T) {
	for _, n := range []int{1, 60, 1000, 20_000} {
		for seed := range uint64(30) {
			f := mustPlan(t, umbel.Goal{Keys: uint64(n), FPRate: 0.02}, nil)
			f.AddAll(nil, fixture.Digests(seed, n))
			if got := len(f.Layers()); got != 1 {
				t.Errorf("%d keys, seed %d: %d layers, want 1", n, seed, got)
			}
		}
	}
}

// Adding keys again, one by one or as a batch, changes nothing and appends no layer, even if the
// last layer is full.
func TestAddAgain(t *testing.T) {
	f := mustPlan(t, umbel.Goal{Keys: 500, FPRate: 0.01}, nil)
	ds := fixture.Digests(1, 10_000)
	for n := 1; n < len(ds); n += 97 {
		f.AddAll(nil, ds[:n])
		was := f.State().Clone()
		f.AddAll(nil, ds[:n])
		for _, d := range ds[:min(n, 50)] {
			if f.Add(d) {
				t.Fatalf("Add of a present key is true, with %d keys", n)
			}
		}
		if !equal(f.State(), was) {
			t.Fatalf("%d keys added again change the filter", n)
		}
	}
}

func TestLimit(t *testing.T) {
	limit := umbel.Params{{Name: "max-bytes", Value: umbel.Uint(10_000)}}
	f := mustPlan(t, umbel.Goal{Keys: 1000, FPRate: 0.01}, limit)
	g := mustPlan(t, umbel.Goal{Keys: 1000, FPRate: 0.01}, limit)
	ds := fixture.Digests(1, 20_000)
	var refusal error
	n := 0
	for ; refusal == nil && n < len(ds); n++ {
		_, refusal = f.TryAdd(ds[n])
	}
	if !errors.Is(refusal, umbel.ErrLimit) || !strings.Contains(refusal.Error(), "10000") {
		t.Fatalf("after %d keys: %v, want an error that wraps %q and says the limit", n, refusal, umbel.ErrLimit)
	}
	g.AddAll(nil, ds[:n-1])
	if !equal(f.State(), g.State()) {
		t.Error("the key that was refused changed the filter")
	}
	if ok, err := f.TryAdd(ds[0]); ok || err != nil {
		t.Errorf("TryAdd of a present key: %v, %v", ok, err)
	}
	if b := f.Stats().Bytes; b > 10_000 {
		t.Errorf("%d bytes, want at most the limit of 10000", b)
	}
	// Add continues at a rising rate, and so does a batch.
	for _, d := range ds[n-1:] {
		f.Add(d)
	}
	g.AddAll(nil, ds[n-1:])
	wantAll(t, f, ds, "beyond the limit")
	if !equal(f.State(), g.State()) || f.Stats().Bytes > 10_000 {
		t.Error("beyond the limit a batch differs from single additions, or the filter grew")
	}
	f.SetMaxBytes(0)
	if ok, err := f.TryAdd(fixture.Digests(2, 1)[0]); err != nil || !ok && f.Stats().FPRate < 0.5 {
		t.Errorf("without a limit: TryAdd is %v, %v", ok, err)
	}
	if _, err := scalable.Kind.New(umbel.Goal{Keys: 100_000, FPRate: 0.01}, limit); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a first layer beyond the limit: %v, want an error that wraps %q", err, umbel.ErrGoal)
	}
}

func TestMerge(t *testing.T) {
	goal := umbel.Goal{Keys: 1000, FPRate: 0.01}
	a, b := mustPlan(t, goal, nil), mustPlan(t, umbel.Goal{Keys: 300, FPRate: 0.001}, umbel.Params{{Name: "growth", Value: umbel.Uint(3)}})
	x, y, z := fixture.Digests(1, 9000), fixture.Digests(2, 5000), fixture.Digests(3, 40_000)
	a.AddAll(nil, x)
	b.AddAll(nil, y)
	before, sum := b.State().Clone(), a.Stats().FPRate+b.Stats().FPRate
	if err := a.Merge(b.State()); err != nil {
		t.Fatal(err)
	}
	if got := a.Stats().FPRate; got > sum {
		t.Errorf("rate %.5f, want at most the sum of both, %.5f", got, sum)
	}
	a.AddAll(nil, z)
	wantAll(t, a, slices.Concat(x, y, z), "union")
	if !equal(b.State(), before) {
		t.Error("the other changed")
	}
	if _, err := scalable.Open(a.State().Clone()); err != nil {
		t.Errorf("Open of a union: %v", err)
	}

	// Two filters with half the keys each become one with all of them in the same layer.
	c, d := mustPlan(t, goal, nil), mustPlan(t, goal, nil)
	c.AddAll(nil, x[:400])
	d.AddAll(nil, x[400:900])
	if err := c.Merge(d.State()); err != nil || len(c.Layers()) != 1 {
		t.Errorf("two that fit one layer make %d, %v", len(c.Layers()), err)
	}

	small := mustPlan(t, goal, umbel.Params{{Name: "max-bytes", Value: umbel.Uint(5000)}})
	small.AddAll(nil, x[:500])
	was := small.State().Clone()
	if err := small.Merge(a.State()); !errors.Is(err, umbel.ErrLimit) || !equal(small.State(), was) {
		t.Errorf("a union beyond the limit: %v, want an error that wraps %q and no change", err, umbel.ErrLimit)
	}
}

// Compact keeps all keys and the given rate, and frees memory; otherwise it returns an error.
func TestCompact(t *testing.T) {
	for _, n := range []int{1, 1100, 3300, 20_000} {
		for _, p := range []float64{0.011, 0.03, 0.2, 0.9, 1} {
			f := mustPlan(t, umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
			ds := fixture.Digests(1, n)
			f.AddAll(nil, ds)
			before := f.Stats()
			if err := f.Compact(p); err != nil {
				if !errors.Is(err, umbel.ErrGoal) {
					t.Errorf("n=%d p=%g: the error %q doesn't wrap %q", n, p, err, umbel.ErrGoal)
				}
				if f.Stats() != before {
					t.Errorf("n=%d p=%g: refused, and the filter changed", n, p)
				}
				continue
			}
			after := f.Stats()
			wantAll(t, f, ds, "compacted")
			if after.FPRate > p || after.Bytes > before.Bytes || len(f.Layers()) > 1 && after.Bytes == before.Bytes {
				t.Errorf("n=%d p=%g: from %d bytes to %d, rate %.4f", n, p, before.Bytes, after.Bytes, after.FPRate)
			}
			if got := rate(f, 9, 50_000); math.Abs(got-after.FPRate) > 0.05*after.FPRate+4*math.Sqrt(after.FPRate/50_000) {
				t.Errorf("n=%d p=%g: rate %.5f, estimated %.5f", n, p, got, after.FPRate)
			}
			g, err := scalable.Open(f.State().Clone())
			if err != nil {
				t.Fatalf("Open of a compacted filter: %v", err)
			}
			more := fixture.Digests(2, 3000)
			g.AddAll(nil, more)
			wantAll(t, g, slices.Concat(ds, more), "compacted and added to")
		}
	}
	f := mustPlan(t, umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	f.AddAll(nil, fixture.Digests(1, 3000))
	was := f.State().Clone()
	if err := f.Compact(1e-9); !errors.Is(err, umbel.ErrGoal) || !equal(f.State(), was) {
		t.Errorf("a rate below that of the filter: %v, want an error that wraps %q and no change", err, umbel.ErrGoal)
	}
}

// A layer joined from two is, bit for bit, the partitioned filter of that shape with the keys of
// both.
func TestCompactIsBuiltSo(t *testing.T) {
	f := mustPlan(t, umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	ds := fixture.Digests(1, 3000)
	f.AddAll(nil, ds)
	if err := f.Compact(1); err != nil || len(f.Layers()) != 1 {
		t.Fatalf("any rate allowed: %d layers, %v", len(f.Layers()), err)
	}
	built, err := partitioned.NewShape(f.Layers()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		built.Add(d)
	}
	if got, want := f.State().Parts[0].Arrays[0], built.State().Arrays[0]; got.Nonzero() > want.Nonzero() || got.Nonzero()*1000 < want.Nonzero()*999 {
		t.Errorf("%d cells are set, built with the same keys %d", got.Nonzero(), want.Nonzero())
	}
}

func TestOpenRefuses(t *testing.T) {
	f := mustPlan(t, umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	f.AddAll(nil, fixture.Digests(1, 1000))
	for what, change := range map[string]func(*umbel.State){
		"layers in another order":                   func(s *umbel.State) { slices.Reverse(s.Parts) },
		"a first layer larger than any":             func(s *umbel.State) { s.Params[0].Value = umbel.Uint(1 << 40) },
		"slices that aren't words":                  func(s *umbel.State) { s.Params[0].Value = umbel.Uint(100) },
		"no growth":                                 func(s *umbel.State) { s.Params[3].Value = umbel.Uint(1) },
		"a first layer that isn't in whole words":   func(s *umbel.State) { s.Parts[0].Params[1].Value = umbel.Uint(0) },
		"layers of which one doesn't open at all":   func(s *umbel.State) { s.Parts[1].Params[0].Value = umbel.Uint(7) },
		"layers of which one is scalable by itself": func(s *umbel.State) { s.Parts[1] = f.State().Clone() },
	} {
		s := f.State().Clone()
		change(&s)
		if _, err := scalable.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want an error that wraps %q", what, err, umbel.ErrCorrupt)
		}
	}
}
