package filtertest

import (
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
)

// sizes are the numbers of keys for which laws are tested: below and above the size from which
// kinds arrange their cells for speed.
var sizes = []uint64{60, 12000}

// digests returns n random digests. Different seeds have no digest in common.
func digests(seed uint64, n int) []umbel.Digest {
	rng := rand.NewPCG(seed, 0x756d62656c)
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	return ds
}

// extreme are digests for which shifts, divisions or overflows often go wrong.
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

// newFilter returns an empty filter for n keys at one percent.
func newFilter(t tb, v umbel.Kind, n uint64) umbel.Filter {
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

// copyOf returns a filter with the state of f that shares no memory with f.
func copyOf(t tb, v umbel.Kind, f umbel.Filter) umbel.Filter {
	t.Helper()
	g, err := v.Open(f.State().Clone())
	if err != nil {
		t.Fatalf("Open of the filter's own state: %v", err)
	}
	return g
}

// as returns f as an I. It skips the law if f doesn't implement I.
func as[I any](t tb, f umbel.Filter) I {
	t.Helper()
	i, ok := f.(I)
	if !ok {
		t.Skipf("%T does not implement %T", f, (*I)(nil))
	}
	return i
}

func addAll(f umbel.Filter, ds []umbel.Digest) {
	for _, d := range ds {
		f.Add(d)
	}
}

// seal seals f if it is a Sealer.
func seal(t tb, f umbel.Filter) {
	t.Helper()
	if s, ok := f.(umbel.Sealer); ok {
		if err := s.Seal(); err != nil {
			t.Fatalf("Seal: %v", err)
		}
	}
}

// filled returns a filter with the keys ds. If the kind has Seal, it also returns a sealed
// filter with a few more keys.
func filled(t tb, v umbel.Kind, n uint64, ds []umbel.Digest) []umbel.Filter {
	t.Helper()
	f := newFilter(t, v, n)
	addAll(f, ds)
	if _, ok := f.(umbel.Sealer); !ok {
		return []umbel.Filter{f}
	}
	g := copyOf(t, v, f)
	seal(t, g)
	addAll(g, digests(9, 3))
	return []umbel.Filter{f, g}
}

func fold(t tb, f umbel.Filter, r uint64) {
	t.Helper()
	if err := f.(umbel.Folder).Fold(r); err != nil {
		t.Fatalf("Fold(%d): %v", r, err)
	}
}

// grows reports whether the size or the design of v's filters depends on the keys that were
// added. Some filters implement umbel.Grower only to refuse keys beyond a limit.
func grows(t tb, v umbel.Kind) bool {
	t.Helper()
	f := newFilter(t, v, sizes[0])
	cells, design := f.Stats().Cells, slices.Clone(f.State().Params)
	addAll(f, digests(1, 20*int(sizes[0])))
	return f.Stats().Cells != cells || !slices.Equal(f.State().Params, design)
}

func unfolded(t tb, v umbel.Kind, f umbel.Filter, u uint64) umbel.Filter {
	t.Helper()
	if err := f.(umbel.Folder).Unfold(u); err != nil {
		t.Fatalf("Unfold(%d): %v", u, err)
	}
	return f
}
