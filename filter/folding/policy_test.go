package folding_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// filter has the methods of both types.
type filter interface {
	umbel.Filter
	Shape() folding.Shape
	Folded() (*bloom.Filter, error)
}

func mustCounting(t testing.TB, s folding.Shape) *folding.Counting {
	t.Helper()
	f, err := folding.NewCountingShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustNew(t testing.TB, s folding.Shape) *folding.Filter {
	t.Helper()
	f, err := folding.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// kept returns a shape with an interval of rates.
func kept(t testing.TB, s folding.Shape, rate, tolerance float64) folding.Shape {
	t.Helper()
	s, err := s.Keep(rate, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// planned returns the shape of 10080 cells of the planning figures of Sailhan and
// Stehr 2012: n = 1000, k = 4, ρ = .01, ε = .002, times the oversize.
func planned(t testing.TB, oversize uint64, width uint) folding.Shape {
	t.Helper()
	return kept(t, folding.Shape{M: 10080 * oversize, K: 4, Width: width}, 0.01, 0.002)
}

// size returns the cells of the folded filter.
func size(f umbel.Filter) uint64 {
	s := f.State()
	return s.Parts[0].Arrays[0].Len / s.Params.Uint("fold")
}

// wantFolded fails unless the folded filter is the fold of the base, bit for bit.
func wantFolded(t *testing.T, f filter, what string) {
	t.Helper()
	face, err := f.Folded()
	if err != nil {
		t.Fatal(err)
	}
	base := f.State().Parts[0].Arrays[0]
	want, err := base.FoldToBits(base.Len/size(f), 1<<f.Shape().Group)
	if err != nil {
		t.Fatal(err)
	}
	if got := face.State().Arrays[0]; !got.Equal(want) {
		t.Fatalf("%s: the folded filter has %d cells, %d set; the folded base has %d, %d set", what, got.Len, got.Nonzero(), want.Len, want.Nonzero())
	}
}

// After any additions and removals and many folds, no key is lost and the folded filter is the
// fold of the base. Some counters are saturated: width 4, keys added 20 times.
func TestNothingIsLost(t *testing.T) {
	for _, s := range []folding.Shape{planned(t, 12, 4), planned(t, 1, 4), planned(t, 12, 8), {M: 64 * 16380, K: 4, Width: 4, Group: 6}} {
		if s.Low == 0 {
			s = kept(t, s, 0.01, 0.002)
		}
		f := mustCounting(t, s)
		rng := rand.New(rand.NewPCG(s.M, uint64(s.Width)))
		keys := fixture.Digests(1, 3000)
		added := make(map[umbel.Digest]int) // the model: a multiset
		sizes := make(map[uint64]bool)
		wave := 0
		for step := range 20000 {
			if step%5000 == 0 {
				wave = rng.IntN(len(keys))
			}
			d := keys[rng.IntN(max(wave, 30))]
			switch grow := step%2500 < 1200; {
			case grow && rng.IntN(100) == 0:
				for range 20 {
					f.Add(d)
				}
				added[d] += 20
			case grow == (rng.IntN(5) != 0):
				f.Add(d)
				added[d]++
			case added[d] > 0:
				if f.Remove(d) {
					added[d]--
				}
			}
			if added[d] > 0 && !f.Has(d) {
				t.Fatalf("%+v, step %d: a key is lost", s, step)
			}
			sizes[size(f)] = true
			if step%200 == 0 {
				for d, n := range added {
					if n > 0 && !f.Has(d) {
						t.Fatalf("%+v, step %d: another key is lost", s, step)
					}
				}
				wantFolded(t, f, "while keys come and go")
			}
		}
		if len(sizes) < 8 {
			t.Errorf("%+v: the folded filter had %d sizes, want more", s, len(sizes))
		}
	}
}

// While keys are added and while they are removed, the rate stays in the interval as far as the
// sizes allow: it is never above while the folded filter can grow, and below only if the next
// smaller size would be nearly above.
func TestRateStaysInInterval(t *testing.T) {
	const keys = 1000
	f := mustCounting(t, planned(t, 12, 4))
	_, high := f.Shape().Interval()
	ds := fixture.Digests(1, keys)
	check := func(n int, coming bool) {
		t.Helper()
		rate := f.Stats().FPRate
		if rate > high {
			t.Fatalf("%d keys: a rate of %.5f, want at most %.5f", n, rate, high)
		}
		if n < 20 {
			return // the smallest folded filters have a few cells
		}
		want := f.Shape().FoldedSize(uint64(n))
		if ratio := float64(size(f)) / float64(want); ratio > 1.25 || coming && ratio > 1.17 || ratio < 0.85 {
			t.Fatalf("%d keys: a folded filter of %d cells, expected %d", n, size(f), want)
		}
	}
	for i, d := range ds {
		f.Add(d)
		check(i+1, true)
	}
	for i, d := range ds {
		f.Remove(d)
		check(keys-i-1, false)
	}
	if size(f) != 30 { // the smallest divisor that isn't below 120960/4096
		t.Errorf("the empty folded filter has %d cells, want 30", size(f))
	}
}

// A key that is added and removed at one end of the interval does not fold the base each time:
// the folded filter grows once and, after many removals, shrinks once.
func TestNoFlapping(t *testing.T) {
	f := mustCounting(t, planned(t, 12, 4))
	ds := fixture.Digests(1, 3000)
	refolds, last := 0, size(f)
	watch := func() {
		if now := size(f); now != last {
			refolds, last = refolds+1, now
		}
	}
	n := 0
	for up := 0; up < 12; n++ { // to the twelfth growth beyond 300 keys
		f.Add(ds[n])
		if now := size(f); n >= 300 && now != last {
			up++
		}
		last = size(f)
	}
	for range 500 { // back and forth, over the end at which it has just grown
		for i := range 5 {
			f.Remove(ds[n-1-i])
			watch()
		}
		for i := range 5 {
			f.Add(ds[n-1-i])
			watch()
		}
	}
	if refolds != 0 {
		t.Errorf("%d refolds while 5 of %d keys are removed and added 500 times, want none", refolds, n)
	}
	before := refolds
	for i := range n / 4 {
		f.Remove(ds[n-1-i])
		watch()
	}
	if down := refolds - before; down < 1 || down > 8 {
		t.Errorf("%d refolds while a quarter of the keys are removed, want a few", down)
	}
	refolds, last = 0, size(f)
	m := n - n/4
	for range 500 { // and at the end at which it may just have shrunk
		for i := range 5 {
			f.Add(ds[m+i])
			watch()
		}
		for i := range 5 {
			f.Remove(ds[m+i])
			watch()
		}
	}
	if refolds > 2 {
		t.Errorf("%d refolds while 5 keys are added and removed, want at most 2", refolds)
	}
}

// Additions and removals between two folds allocate nothing.
func TestAddRemoveAllocateNothing(t *testing.T) {
	f := mustCounting(t, planned(t, 12, 4))
	ds := fixture.Digests(1, 500)
	for _, d := range ds {
		f.Add(d)
	}
	for _, d := range ds[480:] {
		f.Remove(d)
	}
	i, before := 480, size(f)
	n := testing.AllocsPerRun(15, func() {
		f.Add(ds[i])
		f.Has(ds[i])
		f.Remove(ds[i])
		i++
	})
	if size(f) != before {
		t.Fatal("the folded filter changed its size: try other keys")
	}
	if n != 0 {
		t.Errorf("an addition, a query and a removal allocate %v times, want 0", n)
	}
}

// After additions alone the folded filter does not depend on their order, nor on whether it was
// built or merged.
func TestGrowthHasNoHistory(t *testing.T) {
	ds := fixture.Digests(1, 900)
	f, g, h := mustNew(t, planned(t, 12, 0)), mustNew(t, planned(t, 12, 0)), mustNew(t, planned(t, 12, 0))
	for i := range ds {
		f.Add(ds[i])
		g.Add(ds[len(ds)-1-i])
		if i%2 == 0 {
			h.Add(ds[i])
		}
	}
	other := mustNew(t, planned(t, 12, 0))
	for i := 1; i < len(ds); i += 2 {
		other.Add(ds[i])
	}
	if err := h.Merge(other.State()); err != nil {
		t.Fatal(err)
	}
	if size(f) != size(g) || size(f) != size(h) {
		t.Errorf("folded filters of %d, %d and %d cells, want the same", size(f), size(g), size(h))
	}
	wantFolded(t, h, "merged")
}

// Filters with bases of different sizes merge at their greatest common divisor.
func TestMergeUnequalBases(t *testing.T) {
	ds := fixture.Digests(1, 400)
	for _, width := range []uint{0, 4} {
		make1 := func(oversize uint64) filter {
			if width == 0 {
				return mustNew(t, planned(t, oversize, 0))
			}
			return mustCounting(t, planned(t, oversize, width))
		}
		f, g := make1(2), make1(3)
		for i, d := range ds {
			[]filter{f, g}[i%2].Add(d)
		}
		if err := f.(umbel.Merger).Merge(g.State()); err != nil {
			t.Fatal(err)
		}
		if m := f.Shape().M; m != 10080 {
			t.Errorf("width %d: a base of %d cells, want 10080", width, m)
		}
		for _, d := range ds {
			if !f.Has(d) {
				t.Fatal("a key is lost")
			}
		}
		wantFolded(t, f, "merged")
		if _, high := f.Shape().Interval(); f.Stats().FPRate > high {
			t.Errorf("width %d: a rate of %v, above the interval", width, f.Stats().FPRate)
		}
	}
	if err := mustNew(t, planned(t, 2, 0)).Merge(mustCounting(t, planned(t, 2, 4)).State()); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("bits with counters: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
}

// If a size is far below the next one, as with few cells or a prime number of them, a key may be
// too much for both. A present key adds nothing, even above the limit.
func TestTryAddKeepsTheInterval(t *testing.T) {
	for _, width := range []uint{0, 4} {
		for _, m := range []uint64{2, 3, 7, 12, 61, 64, 210} {
			for k := 1; k <= 8; k++ {
				s, err := folding.Shape{M: m, K: k, Width: width}.Keep(0.1, 0.05)
				if err != nil {
					t.Fatal(err)
				}
				made, err := folding.Kind.Open(emptyState(t, s))
				if err != nil {
					t.Fatal(err)
				}
				f := made.(umbel.Grower)
				_, high := s.Interval()
				for _, d := range fixture.Digests(m, 100) {
					_, err := f.TryAdd(d)
					if rate := made.Stats().FPRate; rate > high*(1+1e-9) {
						t.Fatalf("width %d, %d cells, k = %d: TryAdd to a rate of %v, above %v (error %v)", width, m, k, rate, high, err)
					}
				}
				ds := fixture.Digests(1, 300)
				for _, d := range ds {
					made.Add(d)
				}
				if _, err := f.TryAdd(ds[0]); err != nil {
					t.Errorf("width %d, %d cells, k = %d: a present key: %v", width, m, k, err)
				}
			}
		}
	}
}

// emptyState returns the state of an empty filter of a shape, with either base.
func emptyState(t *testing.T, s folding.Shape) umbel.State {
	if s.Width == 0 {
		return mustNew(t, s).State()
	}
	return mustCounting(t, s).State()
}

// TryAdd refuses a key that would raise the whole base above the interval; Add does not.
func TestTryAddRefuses(t *testing.T) {
	f := mustNew(t, planned(t, 1, 0))
	_, high := f.Shape().Interval()
	n := 0
	var refused error
	ds := fixture.Digests(1, 3000)
	for _, d := range ds {
		before := f.State().Clone()
		if _, refused = f.TryAdd(d); refused != nil {
			if f.Has(d) || !f.State().Parts[0].Arrays[0].Equal(before.Parts[0].Arrays[0]) {
				t.Error("a refused key was added")
			}
			break
		}
		n++
	}
	if !errors.Is(refused, umbel.ErrLimit) || n < 900 || n > 1200 {
		t.Fatalf("refused after %d keys with %v, want about 1000 and an error that wraps %q", n, refused, umbel.ErrLimit)
	}
	if rate := f.Stats().FPRate; rate > high {
		t.Errorf("a rate of %v, above the interval", rate)
	}
	if fresh, err := f.TryAdd(ds[0]); fresh || err != nil {
		t.Errorf("a present key: %v, %v, want neither a change nor an error", fresh, err)
	}
	for _, d := range ds {
		f.Add(d)
	}
	if rate, want := f.Stats().FPRate, (plan.Filter{M: 10080, K: 4}).FPRate(3000); math.Abs(rate/want-1) > 0.1 {
		t.Errorf("beyond the limit a rate of %v, want about %v", rate, want)
	}
}
