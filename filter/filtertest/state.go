package filtertest

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// openBehavesTheSame: a filter opened from a state is the filter that gave it.
func openBehavesTheSame(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		addAll(f, digests(1, int(n)))
		g, was := twin(t, v, f), f.State().Clone()
		wantState(t, g, was, "opened")
		addAll(f, digests(3, int(n)))
		wantState(t, g, was, "opened from a clone, after additions to the other filter")
		g = twin(t, v, f)
		if a, b := f.Stats(), g.Stats(); a != b {
			t.Errorf("stats of the filter opened are %+v, want %+v", b, a)
		}
		for _, d := range slices.Concat(extreme, digests(1, 100), digests(2, 2000)) {
			if a, b := f.Has(d), g.Has(d); a != b {
				t.Fatalf("Has(%v) of the filter opened is %v, want %v", d, b, a)
			}
			if a, b := f.Add(d), g.Add(d); a != b {
				t.Fatalf("Add(%v) of the filter opened is %v, want %v", d, b, a)
			}
		}
		wantState(t, g, f.State(), "opened and added to")
	}
}

// containerRoundTrip: the state that comes out of a container is the one that went
// in.
func containerRoundTrip(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		for _, ds := range [][]umbel.Digest{nil, digests(1, 1), digests(2, int(n))} {
			addAll(f, ds)
			want := f.State()
			b, err := wire.Append(nil, want)
			if err != nil {
				t.Fatalf("wire.Append: %v", err)
			}
			got, err := wire.Parse(b, wire.Limits{Bytes: want.Bytes()})
			if err != nil {
				t.Fatalf("wire.Parse: %v", err)
			}
			if !equal(got, want) {
				t.Fatalf("through a container: %s", difference(got, want))
			}
			g, err := v.Open(got)
			if err != nil {
				t.Fatalf("Open of a state from a container: %v", err)
			}
			wantAll(t, g, ds, "from a container")
			if want.Bytes() > 0 {
				_, err = wire.Parse(b, wire.Limits{Bytes: want.Bytes() - 1})
				wantError(t, err, "wire.Parse with too little memory allowed", umbel.ErrLimit)
			}
		}
	}
}

// containerDamaged: no bit of a container can flip and no byte be missing without an
// error; and if whoever flips a bit mends the checksum, what opens is a filter.
func containerDamaged(t tb, v umbel.Kind) {
	for _, f := range filled(t, v, 8, digests(1, 8)) {
		damaged(t, v, f)
	}
}

func damaged(t tb, v umbel.Kind, f umbel.Filter) {
	t.Helper()
	good, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatalf("wire.Append: %v", err)
	}
	refused := func(b []byte, what string, at int) {
		t.Helper()
		var err error
		if p := panicked(func() { _, err = open(v, b) }); p != nil {
			t.Fatalf("%s %d: panic: %v", what, at, p)
		}
		wantError(t, err, what, umbel.ErrCorrupt, umbel.ErrLimit)
	}
	for n := range good {
		refused(good[:n:n], "a container cut after byte", n)
	}
	refused(append(slices.Clone(good), 0), "a container with a byte behind it", len(good))
	for i := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		refused(bad, "a container with a flip of bit", i)

		mend(bad)
		s, err := wire.Parse(bad, wire.Limits{Bytes: 1 << 20})
		if err == nil {
			survive(t, v, s, "a container with a flip and a mended checksum")
		}
	}
}

// mend sets the checksum that ends a container to the one it has to be.
func mend(b []byte) {
	body, sum := b[:len(b)-4], b[len(b)-4:]
	binary.LittleEndian.PutUint32(sum, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

func open(v umbel.Kind, b []byte) (umbel.Filter, error) {
	s, err := wire.Parse(b, wire.Limits{Bytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	return v.Open(s)
}

// survive opens a state that may be wrong. It fails if that panics, if the error is
// none of the sentinels for it, or if what opens panics when used or loses a key.
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
		t.Fatalf("%s: what opened panics: %v\n%+v", what, p, s)
	}
	if lost {
		t.Errorf("%s: what opened has false negatives: %+v", what, s)
	}
}

// exercise does all that a filter can do, and reports whether it lost a key; one that
// forgets what is old may have any but the last.
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

// stateHostile: a state that no filter of the kind has is an error that wraps
// umbel.ErrCorrupt, or umbel.ErrKind; one that might be opens to a filter that
// works, though it may hold anything.
func stateHostile(t tb, v umbel.Kind) {
	for _, n := range []uint64{8, 12000} {
		for _, f := range filled(t, v, n, digests(1, 8)) {
			hostileTo(t, v, f.State())
		}
	}
}

func hostileTo(t tb, v umbel.Kind, good umbel.State) {
	t.Helper()
	if _, err := v.Open(good.Clone()); err != nil {
		t.Fatalf("Open of the filter's own state: %v", err)
	}
	for _, h := range impossible(good) {
		s := good.Clone()
		h.change(&s)
		if _, err := v.Open(s.Clone()); err == nil {
			t.Errorf("%s: Open takes it", h.what)
		}
		survive(t, v, s, h.what)
	}
	for i := range good.Params {
		for _, x := range []uint64{0, 1, 2, 3, 5, 6, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512, 1 << 16, 1 << 31, 1 << 32, 1<<32 + 1, 1 << 56, 1 << 63, 1<<63 + 1, 1<<64 - 1} {
			s := good.Clone()
			s.Params[i].Value = umbel.Uint(x)
			survive(t, v, s, "a parameter changed")
		}
	}
	for i := range good.Arrays {
		for _, cell := range []uint64{1, 2, 7, 63, 64, 65, 127, 128, 255, 256, 320, 511, 512, 513, 576, 1024, 4096, 4160} {
			for _, width := range []uint{1, 4, 64} {
				s := good.Clone()
				s.Arrays[i], _ = cells.New(cell, width)
				survive(t, v, s, "a plane of another length or width")
			}
		}
	}
	randomly(t, v, good)
}

// randomly opens states in which several things are wrong at once.
func randomly(t tb, v umbel.Kind, good umbel.State) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := impossible(good)
	for range 300 {
		s := good.Clone()
		for range 1 + rng.IntN(3) {
			switch i := rng.IntN(3); {
			case i == 0 && len(s.Params) > 0:
				s.Params[rng.IntN(len(s.Params))].Value = umbel.Uint(rng.Uint64() >> rng.UintN(64))
			case i == 1 && len(s.Arrays) > 0:
				s.Arrays[rng.IntN(len(s.Arrays))], _ = cells.New(rng.Uint64N(5000), 1<<rng.UintN(7))
			default:
				_ = panicked(func() { wrong[rng.IntN(len(wrong))].change(&s) }) // two that don't go together
			}
		}
		survive(t, v, s, "several things wrong")
	}
}

// onePlane is a well-formed plane.
var onePlane = cells.Array{Len: 64, Width: 1, Words: make([]uint64, 1)}

type hostile struct {
	what   string
	change func(*umbel.State)
}

// impossible are changes to a state of which each makes it one of no filter.
func impossible(good umbel.State) []hostile {
	hs := []hostile{
		{"another kind", func(s *umbel.State) { s.Kind = "example.org/other" }},
		{"no kind", func(s *umbel.State) { s.Kind = "" }},
		{"a hash that there isn't", func(s *umbel.State) { s.Hasher.Alg = 200 }},
		{"a seed for a hash without", func(s *umbel.State) { s.Hasher = umbel.Hasher{Alg: umbel.MD5, Seed: umbel.Seed{Lo: 1}} }},
		{"a param too many", func(s *umbel.State) { s.Params = append(s.Params, umbel.Param{Name: "zzz"}) }},
		{"a plane too many", func(s *umbel.State) { s.Arrays = append(s.Arrays, onePlane) }},
		{"a part too many", func(s *umbel.State) { s.Parts = append(s.Parts, s.Clone()) }},
		{"parts in parts", func(s *umbel.State) {
			for range umbel.MaxDepth {
				s.Parts = append(s.Parts, s.Clone())
			}
		}},
	}
	if len(good.Arrays) > 0 {
		hs = append(hs, hostile{"no planes", func(s *umbel.State) { s.Arrays = nil }})
	}
	if len(good.Parts) > 0 {
		hs = append(hs,
			hostile{"no parts", func(s *umbel.State) { s.Parts = nil }},
			hostile{"a part of another hasher", func(s *umbel.State) { s.Parts[0].Hasher = umbel.Hasher{Alg: umbel.SipHash} }})
		for _, h := range impossible(good.Parts[0]) {
			hs = append(hs, hostile{"a part with " + h.what, func(s *umbel.State) { h.change(&s.Parts[0]) }})
		}
	}
	if len(good.Params) > 0 {
		hs = append(hs, hostile{"no params", func(s *umbel.State) { s.Params = nil }})
	}
	for i, p := range good.Params {
		hs = append(hs,
			hostile{"a param of another name", func(s *umbel.State) { s.Params[i].Name = "zzz" }},
			hostile{"a param of a bad name", func(s *umbel.State) { s.Params[i].Name = "\x00" }},
			hostile{"a param twice", func(s *umbel.State) { s.Params = append(s.Params, p) }},
			hostile{"a param missing", func(s *umbel.State) { s.Params = slices.Delete(s.Params, i, i+1) }},
		)
		if !p.Value.IsFloat() {
			hs = append(hs, hostile{"a whole number as a float", func(s *umbel.State) { s.Params[i].Value = umbel.Float(p.Value.Float()) }})
		}
		if i > 0 {
			hs = append(hs, hostile{"params in another order", func(s *umbel.State) { s.Params[i], s.Params[0] = s.Params[0], s.Params[i] }})
		}
	}
	for i := range good.Arrays {
		plane := func(what string, change func(*cells.Array)) {
			hs = append(hs, hostile{what, func(s *umbel.State) { change(&s.Arrays[i]) }})
		}
		plane("a plane of no cells", func(a *cells.Array) { *a = cells.Array{Width: a.Width} })
		plane("a plane with a word missing", func(a *cells.Array) { a.Words = a.Words[:len(a.Words)-1] })
		plane("a plane with a word too many", func(a *cells.Array) { a.Words = append(a.Words, 0) })
		plane("a plane of no words", func(a *cells.Array) { a.Words = nil })
		plane("a plane that says it is huge", func(a *cells.Array) { a.Len = 1 << 50 })
		plane("a plane that overflows", func(a *cells.Array) { a.Len = ^uint64(0) })
		plane("cells of 3 bits", func(a *cells.Array) { a.Width = 3 })
		plane("cells of 128 bits", func(a *cells.Array) { a.Width = 128 })
		plane("bits beyond the last cell", func(a *cells.Array) { a.Len--; a.Words[len(a.Words)-1] |= 1 << 63 })
	}
	return hs
}
