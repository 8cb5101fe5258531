package filtertest

import (
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// hostileStates: a state that no filter of the kind has is refused with an error wrapping
// umbel.ErrCorrupt or umbel.ErrKind. A state that some filter has opens to a working filter.
func hostileStates(t tb, v umbel.Kind) {
	for _, n := range []uint64{8, 12000} {
		for _, f := range filled(t, v, n, digests(1, 8)) {
			openHostile(t, v, f.State())
		}
	}
}

func openHostile(t tb, v umbel.Kind, good umbel.State) {
	t.Helper()
	if _, err := v.Open(good.Clone()); err != nil {
		t.Fatalf("Open of the filter's own state: %v", err)
	}
	for _, h := range corruptions(good) {
		s := good.Clone()
		h.change(&s)
		if _, err := v.Open(s.Clone()); err == nil {
			t.Errorf("%s: Open accepts it", h.what)
		}
		survive(t, v, s, h.what)
	}
	for i := range good.Params {
		for _, x := range []uint64{0, 1, 2, 3, 5, 6, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512,
			1 << 16, 1 << 31, 1 << 32, 1<<32 + 1, 1 << 56, 1 << 63, 1<<63 + 1, 1<<64 - 1} {
			s := good.Clone()
			s.Params[i].Value = umbel.Uint(x)
			survive(t, v, s, "a changed parameter")
		}
	}
	for i := range good.Arrays {
		for _, cell := range []uint64{1, 2, 7, 63, 64, 65, 127, 128, 255, 256, 320, 511, 512, 513, 576, 1024, 4096, 4160} {
			for _, width := range []uint{1, 4, 64} {
				s := good.Clone()
				s.Arrays[i], _ = cells.New(cell, width)
				survive(t, v, s, "an array of another length or width")
			}
		}
	}
	openCorruptedAtRandom(t, v, good)
}

// openCorruptedAtRandom opens states with several corruptions at once.
func openCorruptedAtRandom(t tb, v umbel.Kind, good umbel.State) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := corruptions(good)
	for range 300 {
		s := good.Clone()
		for range 1 + rng.IntN(3) {
			switch i := rng.IntN(3); {
			case i == 0 && len(s.Params) > 0:
				s.Params[rng.IntN(len(s.Params))].Value = umbel.Uint(rng.Uint64() >> rng.UintN(64))
			case i == 1 && len(s.Arrays) > 0:
				s.Arrays[rng.IntN(len(s.Arrays))], _ = cells.New(rng.Uint64N(5000), 1<<rng.UintN(7))
			default:
				_ = panicked(func() { wrong[rng.IntN(len(wrong))].change(&s) }) // the second of two may not apply
			}
		}
		survive(t, v, s, "several corruptions")
	}
}

// oneArray is a well-formed array.
var oneArray = cells.Array{Len: 64, Width: 1, Words: make([]uint64, 1)}

type hostile struct {
	what   string
	change func(*umbel.State)
}

// corruptions returns changes to a state. After any one of them no filter of the kind has the
// state.
func corruptions(good umbel.State) []hostile {
	hs := []hostile{
		{"another kind", func(s *umbel.State) { s.Kind = "example.org/other" }},
		{"no kind", func(s *umbel.State) { s.Kind = "" }},
		{"an unknown hash", func(s *umbel.State) { s.Hasher.Alg = 200 }},
		{"a seed for a hash without seed", func(s *umbel.State) { s.Hasher = umbel.Hasher{Alg: umbel.MD5, Seed: fixture.Seed(1, 0)} }},
		{"an additional parameter", func(s *umbel.State) { s.Params = append(s.Params, umbel.Param{Name: "zzz"}) }},
		{"an additional array", func(s *umbel.State) { s.Arrays = append(s.Arrays, oneArray) }},
		{"an additional part", func(s *umbel.State) { s.Parts = append(s.Parts, s.Clone()) }},
		{"too many nested parts", func(s *umbel.State) {
			for range umbel.MaxDepth {
				s.Parts = append(s.Parts, s.Clone())
			}
		}},
	}
	if len(good.Arrays) > 0 {
		hs = append(hs, hostile{"no arrays", func(s *umbel.State) { s.Arrays = nil }})
	}
	if len(good.Parts) > 0 {
		hs = append(hs,
			hostile{"no parts", func(s *umbel.State) { s.Parts = nil }},
			hostile{"a part of another hasher", func(s *umbel.State) { s.Parts[0].Hasher = umbel.Hasher{Alg: umbel.SipHash} }})
		for _, h := range corruptions(good.Parts[0]) {
			hs = append(hs, hostile{"a part with " + h.what, func(s *umbel.State) { h.change(&s.Parts[0]) }})
		}
	}
	if len(good.Params) > 0 {
		hs = append(hs, hostile{"no parameters", func(s *umbel.State) { s.Params = nil }})
	}
	for i, p := range good.Params {
		hs = append(hs,
			hostile{"a parameter of another name", func(s *umbel.State) { s.Params[i].Name = "zzz" }},
			hostile{"a parameter of an invalid name", func(s *umbel.State) { s.Params[i].Name = "\x00" }},
			hostile{"a repeated parameter", func(s *umbel.State) { s.Params = append(s.Params, p) }},
			hostile{"a missing parameter", func(s *umbel.State) { s.Params = slices.Delete(s.Params, i, i+1) }},
		)
		if !p.Value.IsFloat() {
			hs = append(hs, hostile{"an integer as a float", func(s *umbel.State) { s.Params[i].Value = umbel.Float(p.Value.Float()) }})
		}
		if i > 0 {
			hs = append(hs, hostile{"parameters in another order", func(s *umbel.State) { s.Params[i], s.Params[0] = s.Params[0], s.Params[i] }})
		}
	}
	for i := range good.Arrays {
		array := func(what string, change func(*cells.Array)) {
			hs = append(hs, hostile{what, func(s *umbel.State) { change(&s.Arrays[i]) }})
		}
		array("an array without cells", func(a *cells.Array) { *a = cells.Array{Width: a.Width} })
		array("an array with a missing word", func(a *cells.Array) { a.Words = a.Words[:len(a.Words)-1] })
		array("an array with an additional word", func(a *cells.Array) { a.Words = append(a.Words, 0) })
		array("an array without words", func(a *cells.Array) { a.Words = nil })
		array("an array with a huge length", func(a *cells.Array) { a.Len = 1 << 50 })
		array("an array whose length overflows", func(a *cells.Array) { a.Len = ^uint64(0) })
		array("cells of 0 bits", func(a *cells.Array) { a.Width = 0 })
		array("cells of 3 bits", func(a *cells.Array) { a.Width = 3 })
		array("cells of 128 bits", func(a *cells.Array) { a.Width = 128 })
		array("bits beyond the last cell", func(a *cells.Array) { a.Len--; a.Words[len(a.Words)-1] |= 1 << 63 })
	}
	return hs
}

// survive opens a state that may be corrupt. It fails if Open panics, if the error wraps neither
// umbel.ErrCorrupt nor umbel.ErrKind, or if the filter panics when it is used or loses a key.
func survive(t tb, v umbel.Kind, s umbel.State, what string) {
	t.Helper()
	var f umbel.Filter
	var err error
	if p := panicked(func() { f, err = v.Open(s) }); p != nil {
		t.Fatalf("%s: Open panics: %v\n%+v", what, p, s)
	}
	if err != nil {
		wantError(t, err, what, umbel.ErrCorrupt, umbel.ErrKind)
		return
	}
	var lost bool
	if p := panicked(func() { lost = exercise(f) }); p != nil {
		t.Fatalf("%s: the opened filter panics: %v\n%+v", what, p, s)
	}
	if lost {
		t.Errorf("%s: the opened filter has false negatives: %+v", what, s)
	}
}

// exercise calls every method of a filter and reports whether it lost a key. A filter that
// expires keys may lose all but the last one.
func exercise(f umbel.Filter) (lost bool) {
	ds := append(digests(1, 50), extreme...)
	has := make([]bool, len(ds))
	umbel.HasAll(f, has, ds)
	f.Stats()
	umbel.AddAll(f, has, ds[:20])
	for _, d := range ds[20:40] {
		f.Add(d)
		lost = lost || !f.Has(d)
	}
	if a, ok := f.(umbel.AtomicAdder); ok {
		a.AddAtomic(ds[40])
	}
	if a, ok := f.(umbel.AtomicBatchAdder); ok {
		a.AddAllAtomic(ds[41:])
	} else {
		umbel.AddAll(f, nil, ds[40:])
	}
	if l, ok := f.(umbel.Locator); ok {
		l.Locate(nil, ds[0])
	}
	if m, ok := f.(umbel.Merger); ok {
		_ = m.Merge(f.State())
	}
	if fold, ok := f.(umbel.Folder); ok {
		_, _ = fold.Unfold(2), fold.Fold(2)
		_, _ = fold.Fold(2), fold.Fold(3)
	}
	if c, ok := f.(umbel.Counter); ok {
		c.Count(ds[0])
	}
	if g, ok := f.(umbel.Grower); ok {
		_, _ = g.TryAdd(ds[0])
	}
	f.Stats()
	if s, ok := f.(umbel.Sealer); ok {
		_ = s.Seal()
		f.Stats()
	}
	if _, forgets := f.(umbel.Advancer); !forgets {
		lost = lost || missing(f, ds) > 0
	}
	if r, ok := f.(umbel.Remover); ok {
		r.Remove(ds[0])
		r.Remove(ds[0])
	}
	if a, ok := f.(umbel.Advancer); ok {
		_, _ = a.Advance(1), a.Advance(1<<64-1)
		f.Has(ds[0])
		f.Add(ds[0])
	}
	if c, ok := f.(umbel.Clearer); ok {
		c.Clear()
	}
	return lost
}
