package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// seals: a sealed filter has all keys, independent of their order, and survives a container.
// Seal of a sealed filter changes nothing. Keys that are added after Seal are present and stay.
// The size is that of the forecast, within 2 % and 512 bytes. The rate is at most twice that of
// the goal, as it is measured with few keys.
func seals(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		s := as[umbel.Sealer](t, f)
		empty := f.State().Clone()
		seal(t, f)
		wantState(t, f, empty, "sealed with no keys")

		ds := slices.Concat(extreme, digests(1, int(n)), extreme)
		addAll(f, ds)
		reversed := newFilter(t, v, n)
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
		wantState(t, reversed, was, "sealed, with the keys added in reverse order")
		wantConsistentStats(t, f, f.Stats())

		sealedOpens(t, v, f, ds)
		addsAfterSeal(t, v, f, ds)
	}
	sealMeetsForecast(t, v)
}

// sealedOpens: a sealed filter from a container equals the original.
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

// addsAfterSeal: keys that are added after Seal stay, after all other operations.
func addsAfterSeal(t tb, v umbel.Kind, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	late := digests(6, 300)
	for i, d := range late {
		before, had := f.State().Clone(), f.Has(d)
		changed := f.Add(d)
		if changed == had || changed == equal(f.State(), before) {
			t.Fatalf("Add(%v) after Seal is %v, Has was %v; the state is unchanged: %v", d, changed, had, equal(f.State(), before))
		}
		if i == len(late)/2 {
			wantAll(t, f, slices.Concat(ds, late[:i+1]), "with keys added after Seal")
			seal(t, f)
		}
	}
	ds = slices.Concat(ds, late)
	wantAll(t, f, ds, "with keys added after Seal")
	wantHasAll(t, f, slices.Concat(ds, digests(7, 1000)))
	g := copyOf(t, v, f)
	wantAll(t, g, ds, "opened with keys added after Seal")
	if a, b := f.Stats(), g.Stats(); a != b {
		t.Errorf("stats of the opened filter are %+v, want %+v", b, a)
	}
	seal(t, g)
	wantAll(t, g, ds, "sealed with keys added after Seal")
	wantConsistentStats(t, g, g.Stats())
	if c, ok := g.(umbel.Clearer); ok {
		c.Clear()
		addAll(g, late)
		seal(t, g)
		wantAll(t, g, late, "sealed, cleared, and sealed again")
	}
}

// sealMeetsForecast: a sealed filter has the size and the rate that were planned.
func sealMeetsForecast(t tb, v umbel.Kind) {
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
				t.Errorf("%+v: sealed with %d bytes, k=%g, forecast %d, %g", g, s.Bytes, s.K, fc.Bytes, fc.K)
			}
			if s.FPRate > 2*p {
				t.Errorf("%+v: sealed with a rate of %g", g, s.FPRate)
			}
		}
	}
}
