package filtertest

import (
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
)

// Sizes that laws are tried at: below and above the size from which kinds lay out
// their cells for speed.
var sizes = []uint64{60, 12000}

// digests returns n random digests; those of different seeds have none in common.
func digests(seed uint64, n int) []umbel.Digest {
	rng := rand.NewPCG(seed, 0x756d62656c)
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	return ds
}

// extreme are digests for which a careless kind shifts, divides or wraps wrongly.
var extreme = []umbel.Digest{
	{},
	{H1: ^uint64(0), H2: ^uint64(0)},
	{H1: ^uint64(0)},
	{H2: ^uint64(0)},
	{H1: 1}, {H2: 1},
	{H1: 1 << 63}, {H2: 1 << 63},
	{H1: 1<<32 - 1, H2: 1 << 32},
	{H1: 0x0123456789abcdef}, // H2 = 0
	{H2: 0x0123456789abcdef},
}

// make1 returns an empty filter for n keys at one percent.
func make1(t tb, v umbel.Kind, n uint64) umbel.Filter {
	t.Helper()
	return mustNew(t, v, umbel.Goal{Keys: n, FPRate: 0.01}, nil)
}

func mustNew(t tb, v umbel.Kind, g umbel.Goal, ps umbel.Params) umbel.Filter {
	t.Helper()
	f, err := v.New(g, ps)
	if err != nil {
		t.Fatalf("New(%+v, %v): %v", g, ps, err)
	}
	return f
}

// twin returns a filter with the state of f that shares no memory with it.
func twin(t tb, v umbel.Kind, f umbel.Filter) umbel.Filter {
	t.Helper()
	g, err := v.Open(f.State().Clone())
	if err != nil {
		t.Fatalf("Open of the filter's own state: %v", err)
	}
	return g
}

// as returns f as something that only some filters are, and skips the law if it
// isn't.
func as[I any](t tb, f umbel.Filter) I {
	t.Helper()
	i, ok := f.(I)
	if !ok {
		t.Skipf("%T is no %T", f, (*I)(nil))
	}
	return i
}

func addAll(f umbel.Filter, ds []umbel.Digest) {
	for _, d := range ds {
		f.Add(d)
	}
}

// wantAll fails unless f has all of ds.
func wantAll(t tb, f umbel.Filter, ds []umbel.Digest, what string) {
	t.Helper()
	for i, d := range ds {
		if !f.Has(d) {
			t.Fatalf("%s: Has(%v) is false for key %d of %d: a false negative", what, d, i, len(ds))
		}
	}
}

// wantState fails unless f has the state want.
func wantState(t tb, f umbel.Filter, want umbel.State, what string) {
	t.Helper()
	if !equal(f.State(), want) {
		t.Fatalf("%s: %s", what, difference(f.State(), want))
	}
}
