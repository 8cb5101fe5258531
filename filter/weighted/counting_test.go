package weighted_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
)

var (
	_ umbel.Filter       = (*weighted.Counting)(nil)
	_ umbel.Classifier   = (*weighted.Counting)(nil)
	_ umbel.Remover      = (*weighted.Counting)(nil)
	_ umbel.Counter      = (*weighted.Counting)(nil)
	_ umbel.Merger       = (*weighted.Counting)(nil)
	_ umbel.Folder       = (*weighted.Counting)(nil)
	_ umbel.Clearer      = (*weighted.Counting)(nil)
	_ umbel.Locator      = (*weighted.Counting)(nil)
	_ umbel.BatchQuerier = (*weighted.Counting)(nil)
	_ umbel.BatchAdder   = (*weighted.Counting)(nil)
)

func TestCountingKind(t *testing.T) { filtertest.Run(t, weighted.CountingKind) }

func FuzzOpenCounting(f *testing.F) {
	for _, s := range threeWays {
		s.M, s.Group = 60, 0
		b, err := mustCount(f, s, 4).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	filtertest.Fuzz(f, weighted.CountingKind)
}

func mustCount(t testing.TB, s weighted.Shape, width uint) *weighted.Counting {
	t.Helper()
	s.Width = width
	f, err := weighted.NewCountingShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// addition is an addition of a digest with a class; -1 is an addition without one.
type addition struct {
	digest umbel.Digest
	class  int
}

// In any sequence of additions and of removals with the same class, no key that was added and not removed is
// absent, none has too low a count, and when all are removed the filter is empty, unless a counter was saturated.
func TestAnySequenceOfClasses(t *testing.T) {
	for name, s := range threeWays {
		for _, width := range []uint{4, 16} {
			random := rand.New(rand.NewPCG(uint64(width), 35))
			s.M, s.Group = 64*12, 6 // a third full: many keys share counters
			f, ds := mustCount(t, s, width), fixture.Digests(9, 60)
			left := map[addition]uint64{}
			check := func() {
				t.Helper()
				for a, n := range left {
					if c, known := f.CountClass(a.digest, a.class); n > 0 && (!f.HasClass(a.digest, a.class) || !f.Has(a.digest) || known && c < n) {
						t.Fatalf("by %s, width %d: %v, added %d times more than removed: Has %v, HasClass %v, CountClass %d",
							name, width, a, n, f.Has(a.digest), f.HasClass(a.digest, a.class), c)
					}
				}
			}
			remove := func(a addition) {
				if left[a] > 0 && f.RemoveClass(a.digest, a.class) {
					left[a]--
				}
			}
			for step := range 3000 {
				a := addition{ds[random.IntN(len(ds))], random.IntN(4) - 1}
				if name == "prefix" && a.class < 0 {
					a.class = 0
				}
				if random.IntN(100) < 48 {
					f.AddClass(a.digest, a.class)
					left[a]++
				} else {
					remove(a)
				}
				if step%100 == 0 {
					check()
				}
			}
			check()
			for a := range left {
				for range left[a] {
					remove(a)
				}
			}
			if width == 16 && !f.IsEmpty() {
				t.Errorf("by %s: all additions were removed, and the filter is not empty", name)
			}
		}
	}
}

// A removal with another class than that of the addition is refused if a counter shows that the key was not added with
// it. With fewer cells it removes the key, and no other.
func TestRemoveWithAnotherClass(t *testing.T) {
	f, ds := mustCount(t, byProgram, 4), fixture.Digests(1, 400)
	for _, d := range ds[1:] {
		f.AddClass(d, 0)
	}
	others := f.Clone()
	f.AddClass(ds[0], 1)
	with := f.State().Clone()
	if f.RemoveClass(ds[0], 2) || f.Remove(ds[0]) || !f.State().Arrays[0].Equal(with.Arrays[0]) {
		t.Error("a key with 2 cells was removed with 13")
	}
	if !f.RemoveClass(ds[0], 1) || !f.State().Arrays[0].Equal(others.State().Arrays[0]) {
		t.Error("a key that was removed with its class left a trace")
	}
	f.AddClass(ds[0], 2)
	if !f.RemoveClass(ds[0], 1) || f.Has(ds[0]) && !others.Has(ds[0]) {
		t.Error("a key with 13 cells was not removed with 2")
	}
	for i, d := range ds[1:] {
		if !f.HasClass(d, 0) {
			t.Fatalf("digest %d is absent after the removal of another", i)
		}
	}
	byKey := mustCount(t, byPrefix, 4)
	byKey.AddString("a/x")
	d := byKey.Hasher().HashString("a/x")
	if n, known := byKey.CountString("a/x"); n != 1 || !known || byKey.Remove(d) || !byKey.HasString("a/x") {
		t.Errorf("the digest of a key with a prefix was removed without its class, or its count is %d", n)
	}
	if !byKey.RemoveString("a/x") || byKey.RemoveString("a/x") || !byKey.IsEmpty() {
		t.Error("the key was not removed with its class, or twice")
	}
}

// The nonzero counters are the bits of the filter with the same keys, also when others were removed.
func TestBitsAreThoseOfAFilter(t *testing.T) {
	for name, s := range threeWays {
		f, want, ds := mustCount(t, s, 8), mustNew(t, s), fixture.Digests(9, 2000)
		f.AddAll(nil, ds[:500])
		want.AddAll(nil, ds[:500])
		for i, d := range ds[500:] {
			f.AddClass(d, i%3)
			if i%2 == 0 {
				want.AddClass(d, i%3)
			}
		}
		for i, d := range ds[500:] {
			if i%2 == 1 && !f.RemoveClass(d, i%3) {
				t.Fatalf("by %s: digest %d was not removed", name, i)
			}
		}
		got, err := f.Bits()
		if err != nil || !bits(got).Equal(bits(want)) || got.Stats() != want.Stats() {
			t.Fatalf("by %s: other bits than those of a filter with the same keys, %v", name, err)
		}
		has, wantHas := make([]bool, 8000), make([]bool, 8000)
		f.HasAll(has, fixture.Digests(9, 8000))
		if want.HasAll(wantHas, fixture.Digests(9, 8000)); !slices.Equal(has, wantHas) {
			t.Errorf("by %s: HasAll differs from that of the bits", name)
		}
		if n := testing.AllocsPerRun(10, func() {
			f.HasAll(has, ds)
			f.AddAll(nil, ds)
			f.AddClass(ds[0], 1)
			f.RemoveClass(ds[0], 1)
			f.CountClass(ds[0], 1)
			f.AddString("a/x")
		}); n != 0 {
			t.Errorf("by %s: %g allocations, want 0", name, n)
		}
	}
	if _, err := new(weighted.Counting).Bits(); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Bits of a zero filter: %v", err)
	}
}

// Merge adds counters at any size, Difference undoes it, and both refuse other classes and bits.
func TestCountingDifference(t *testing.T) {
	for name, small := range threeWays {
		large := small
		large.M *= 3
		a, b := fixture.Digests(9, 1500), fixture.Digests(2, 800)
		want := mustCount(t, small, 8)
		want.AddAll(nil, a)
		for _, c := range [][2]weighted.Shape{{small, small}, {small, large}, {large, small}} {
			f, g := mustCount(t, c[0], 8), mustCount(t, c[1], 8)
			f.AddAll(nil, a)
			g.AddAll(nil, b)
			if err := f.Merge(g.State()); err != nil {
				t.Fatal(err)
			}
			for i, d := range b {
				if !f.Has(d) {
					t.Fatalf("by %s: digest %d of the other filter is absent after Merge", name, i)
				}
			}
			if err := f.Difference(g.State()); err != nil || !f.State().Arrays[0].Equal(want.State().Arrays[0]) {
				t.Errorf("by %s: other counters than before the merge, %v", name, err)
			}
			if err := f.Difference(g.State()); !errors.Is(err, umbel.ErrMismatch) {
				t.Errorf("by %s: a filter that is not part of the other was subtracted: %v", name, err)
			}
		}
		k := slices.Clone(small.Classes)
		k[1].K++
		other := small
		other.Classes = k
		for _, s := range []umbel.State{mustCount(t, other, 8).State(), mustCount(t, small, 4).State(), mustNew(t, small).State()} {
			if f := mustCount(t, small, 8); !errors.Is(f.Merge(s), umbel.ErrMismatch) || !errors.Is(f.Difference(s), umbel.ErrMismatch) {
				t.Errorf("by %s: merged with a filter of another shape", name)
			}
		}
	}
}

func TestCountingShapeRefuses(t *testing.T) {
	for _, width := range []uint{0, 1, 3, 32} {
		s := byProgram
		s.Width = width
		if _, err := weighted.NewCountingShape(s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("counters of %d bits: %v", width, err)
		}
	}
	s := byProgram
	s.Width = 8
	if _, err := weighted.NewShape(s); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a Filter with counters: %v", err)
	}
	if f := mustCount(t, byPrefix, 8); f.Shape().Width != 8 || f.Stats().Bytes != f.Shape().Forecast(1).Bytes {
		t.Errorf("width %d, %d bytes, forecast %d", f.Shape().Width, f.Stats().Bytes, f.Shape().Forecast(1).Bytes)
	}
}
