package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// seal seals f if it is a filter that can be.
func seal(t tb, f umbel.Filter) {
	t.Helper()
	if s, ok := f.(umbel.Sealer); ok {
		if err := s.Seal(); err != nil {
			t.Fatalf("Seal: %v", err)
		}
	}
}

// filled returns a filter with the keys ds, and if it can be sealed another one,
// sealed, with a few more.
func filled(t tb, v umbel.Kind, n uint64, ds []umbel.Digest) []umbel.Filter {
	t.Helper()
	f := make1(t, v, n)
	addAll(f, ds)
	if _, ok := f.(umbel.Sealer); !ok {
		return []umbel.Filter{f}
	}
	g := twin(t, v, f)
	seal(t, g)
	addAll(g, digests(9, 3))
	return []umbel.Filter{f, g}
}

// seals: a sealed filter has all keys, whatever the order in which they came, and is
// the one that its container gives. Sealed again it is as it was. What is added later is
// there too, and stays. Its size is that of the forecast, within 2 % and 512 bytes, and
// its rate no more than twice that of the goal: a measurement of few keys.
func seals(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		s := as[umbel.Sealer](t, f)
		empty := f.State().Clone()
		seal(t, f)
		wantState(t, f, empty, "sealed with no keys")

		ds := slices.Concat(extreme, digests(1, int(n)), extreme)
		addAll(f, ds)
		reversed := make1(t, v, n)
		for _, d := range slices.Backward(ds) {
			reversed.Add(d)
		}
		seal(t, f)
		wantAll(t, f, ds, "sealed")
		was := f.State().Clone()
		if err := s.Seal(); err != nil {
			t.Errorf("Seal of a sealed filter: %v", err)
		}
		wantState(t, f, was, "sealed again")
		seal(t, reversed)
		wantState(t, reversed, was, "sealed, the keys added in the other order")
		wantPlain(t, f, f.Stats())

		sealedOpens(t, v, f, ds)
		sealedTakes(t, v, f, ds)
	}
	sealedForecasts(t, v)
}

// sealedOpens: through a container a sealed filter is what it was.
func sealedOpens(t tb, v umbel.Kind, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	b, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatalf("wire.Append: %v", err)
	}
	s, err := wire.Parse(b, wire.Limits{})
	if err != nil {
		t.Fatalf("wire.Parse: %v", err)
	}
	g, err := v.Open(s)
	if err != nil {
		t.Fatalf("Open of a sealed filter's state: %v", err)
	}
	wantState(t, g, f.State(), "sealed, from a container")
	wantAll(t, g, ds, "sealed, from a container")
	for _, d := range slices.Concat(digests(3, 5000), ds[:20]) {
		if x, y := g.Has(d), f.Has(d); x != y {
			t.Fatalf("Has(%v) of the filter from a container is %v, want %v", d, x, y)
		}
	}
	for _, length := range []int{0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 1000} {
		wantHasAll(t, g, slices.Concat(ds[:min(length, len(ds))], digests(4, length))[:length])
	}
	bools, some := make([]bool, 100), digests(5, 100)
	wantNoAllocation(t, "Has, sealed", func() { g.Has(ds[0]); g.Has(some[0]) })
	wantNoAllocation(t, "HasAll, sealed", func() { umbel.HasAll(g, bools, some) })
}

// sealedTakes: keys that come after Seal are kept, whatever else is done.
func sealedTakes(t tb, v umbel.Kind, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	late := digests(6, 300)
	for i, d := range late {
		before, had := f.State().Clone(), f.Has(d)
		changed := f.Add(d)
		if changed == had || changed == equal(f.State(), before) {
			t.Fatalf("Add(%v) after Seal is %v, and Has was %v; the state is the same: %v", d, changed, had, equal(f.State(), before))
		}
		if i == len(late)/2 {
			wantAll(t, f, slices.Concat(ds, late[:i+1]), "with keys added after Seal")
			seal(t, f)
		}
	}
	ds = slices.Concat(ds, late)
	wantAll(t, f, ds, "with keys added after Seal")
	wantHasAll(t, f, slices.Concat(ds, digests(7, 1000)))
	g := twin(t, v, f)
	wantAll(t, g, ds, "opened with keys added after Seal")
	if a, b := f.Stats(), g.Stats(); a != b {
		t.Errorf("stats of the filter opened are %+v, want %+v", b, a)
	}
	seal(t, g)
	wantAll(t, g, ds, "sealed with keys added after Seal")
	wantPlain(t, g, g.Stats())
	if c, ok := g.(umbel.Clearer); ok {
		c.Clear()
		addAll(g, late)
		seal(t, g)
		wantAll(t, g, late, "sealed, cleared, and sealed again")
	}
}

// sealedForecasts: what was planned is what Seal makes.
func sealedForecasts(t tb, v umbel.Kind) {
	t.Helper()
	for _, n := range []uint64{1, 2, 10, 100, 1000, 10000, 50000} {
		for _, p := range []float64{0.3, 0.1, 0.01, 0.001, 1e-5} {
			g := umbel.Goal{Keys: n, FPRate: p}
			fc, err := v.Plan(g, nil)
			if err != nil {
				t.Fatalf("Plan(%+v): %v", g, err)
			}
			f := mustNew(t, v, g, nil)
			addAll(f, digests(1, int(n)))
			seal(t, f)
			s := f.Stats()
			off := max(s.Bytes, fc.Bytes) - min(s.Bytes, fc.Bytes)
			if off > fc.Bytes/50+512 || s.K != fc.K {
				t.Errorf("%+v: sealed with %d bytes, k=%g; the forecast was %d, %g", g, s.Bytes, s.K, fc.Bytes, fc.K)
			}
			if s.FPRate > 2*p {
				t.Errorf("%+v: sealed with a rate of %g", g, s.FPRate)
			}
		}
	}
}
