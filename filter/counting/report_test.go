package counting_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// Verma 2015, "Bloom filter advancements", prints a program for a counting filter
// (section 5.1) that loses keys. Each test here shows that one of its faults is absent.

// The program's delete clears a position only where the count is 1; at the first that
// is higher it prints "cannot be deleted" and stops, the earlier ones already
// cleared.
func TestReportBug01DeleteHalfWay(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 60, K: 3})
	ds := fixture.Digests(1, 15)
	f.AddAll(nil, ds)
	for i, d := range ds {
		if !f.Remove(d) {
			t.Fatalf("key %d, which was added, isn't removed", i)
		}
		for j, other := range ds[i+1:] {
			if !f.Has(other) {
				t.Fatalf("removing key %d removed key %d", i, i+1+j)
			}
		}
	}
	if !f.IsEmpty() {
		t.Error("all keys were removed, and the filter isn't empty")
	}
}

// The program deletes a key without checking whether it is present.
func TestReportBug01DeleteOfWhatIsNotThere(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 600, K: 5})
	f.AddAll(nil, fixture.Digests(1, 50))
	before := f.State().Clone().Arrays[0]
	for _, d := range fixture.Digests(2, 1000) {
		if n, _ := f.Count(d); (n == 0 || !f.Has(d)) && f.Remove(d) {
			t.Fatalf("%v was removed, but was absent", d)
		}
	}
	if !f.State().Arrays[0].Equal(before) {
		t.Error("removals that were refused changed the filter")
	}
}

// The program takes positions modulo len-1: the last cell is never used, a filter of
// one cell divides by zero, and the absolute value of the least integer is negative.
func TestReportBug02LastCell(t *testing.T) {
	for m := uint64(1); m <= 130; m++ {
		f := mustNew(t, counting.Shape{M: m, K: 2})
		f.AddAll(nil, fixture.Digests(m, 40*int(m)))
		f.Add(umbel.Digest{H1: 1 << 63, H2: 1 << 63})
		if got := f.State().Arrays[0].Nonzero(); got != m {
			t.Errorf("of %d cells %d are used", m, got)
		}
	}
}

// The program takes each position from the last one, h(h(x)) on the reduced range:
// keys that share the first share all, and positions run in circles. With m=1024, k=7
// and 100 keys its rate is 0.262 instead of 0.0073.
func TestReportBug03HashChain(t *testing.T) {
	const m, k, n = 1024, 7, 100
	f := mustNew(t, counting.Shape{M: m, K: k})
	f.AddAll(nil, fixture.Digests(1, n))
	yes := 0
	const queries = 400_000
	rng := rand.NewPCG(9, 9)
	for range queries {
		if f.Has(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}) {
			yes++
		}
	}
	want := f.Stats().FPRate
	sigma := math.Sqrt(want * (1 - want) / queries)
	if got := float64(yes) / queries; math.Abs(got-want) > 3*sigma || got > 0.01 {
		t.Errorf("rate %.5f, want %.5f ± %.5f; planned %.5f", got, want, 3*sigma, plan.Filter{M: m, K: k}.FPRate(n))
	}
	// Two keys that share their first position differ in the others.
	first := make(map[uint64][]uint64)
	for _, d := range fixture.Digests(3, 5000) {
		at := f.Locate(nil, d)
		if other, ok := first[at[0]]; ok && slices.Equal(at, other) {
			t.Fatalf("two keys have all positions in common: %d", at)
		}
		first[at[0]] = at
	}
}

// The program increments a cell twice if two positions of a key fall on it, and then cannot
// delete the key.
func TestReportBug04DuplicatePositions(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 5, K: 8})
	for _, d := range fixture.Digests(1, 200) {
		at := f.Locate(nil, d)
		slices.Sort(at)
		if len(slices.Compact(slices.Clone(at))) == len(at) {
			t.Fatalf("positions %d of 5 cells are all different", at)
		}
		if !f.Add(d) || count(f, d) != 1 || !f.Add(d) || f.Has(d) != true {
			t.Fatalf("positions %d: the key isn't counted once", at)
		}
		f.Remove(d)
		if saturated := slices.Contains(cellsOf(f), 15); !saturated && (!f.Remove(d) || !f.IsEmpty()) {
			t.Fatalf("positions %d: the key is still present", at)
		}
		f.Clear()
	}
}

// The program doubles the number of positions of every key during a query and keeps it doubled:
// older keys are then searched at positions where they were never added.
func TestReportBug05KeySizeGrows(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 600, K: 5})
	for i, d := range fixture.Digests(1, 60) {
		f.Add(d)
		f.Has(d)
		f.Remove(d)
		f.Add(d)
		if got := f.Shape().K; got != 5 {
			t.Fatalf("k is %d after %d keys, want 5", got, i+1)
		}
		for _, d := range fixture.Digests(1, i+1) {
			if !f.Has(d) {
				t.Fatalf("after %d keys one is lost", i+1)
			}
		}
	}
}

// The program divides by the number of keys even if it is zero.
func TestReportBug06EmptyFilter(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 20, K: 3})
	if d := fixture.Digests(1, 1)[0]; f.Has(d) || f.Remove(d) || count(f, d) != 0 || !f.IsEmpty() {
		t.Error("the empty filter contains a key")
	}
	if s := f.Stats(); s.Keys != 0 || s.FPRate != 0 {
		t.Errorf("the stats of the empty filter are %+v", s)
	}
}

// The program stores frequencies in an array of 20 and crashes for any other element.
func TestReportBug07AnyElement(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 2000, K: 3})
	for _, key := range []string{"", "-1", "20", "2147483648", "\x00\xff", "element"} {
		f.AddString(key)
		if n, _ := f.CountString(key); n != 1 || !f.HasString(key) || !f.RemoveString(key) || f.HasString(key) {
			t.Errorf("%q isn't added, counted once and removed", key)
		}
	}
}

// The program's makeEmpty does not reset frequencies and the number of positions.
func TestReportBug08ClearAll(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 640, K: 3, Group: 6})
	empty := f.State().Clone()
	f.AddAll(nil, fixture.Digests(1, 50))
	if err := errors.Join(f.Unfold(3), f.Fold(3)); err != nil {
		t.Fatal(err)
	}
	f.Clear()
	if s := f.State(); !s.Arrays[0].Equal(empty.Arrays[0]) || !slices.Equal(s.Params, empty.Params) {
		t.Errorf("after Clear the state is %+v, want the empty one", s.Params)
	}
}

// The program's size counts a key that is added again, and becomes negative if an absent key is
// deleted; isEmpty is then wrong.
func TestReportBug10Size(t *testing.T) {
	f := mustNew(t, counting.Shape{M: 6000, K: 5})
	want := func(n uint64, keys float64) {
		t.Helper()
		got, exact := f.Additions()
		if s := f.Stats(); got != n || !exact || math.Round(s.Keys) != keys || f.IsEmpty() != (n == 0) {
			t.Errorf("%d additions, %.1f keys, empty is %v; want %d, %.0f", got, s.Keys, f.IsEmpty(), n, keys)
		}
	}
	ds := fixture.Digests(1, 20)
	f.Remove(ds[0])
	want(0, 0)
	f.AddAll(nil, ds)
	want(20, 20)
	f.Add(ds[3])
	want(21, 20)
	f.Remove(ds[3])
	f.Remove(ds[3])
	want(19, 19)
	f.Remove(ds[3])
	want(19, 19)
	for i, d := range ds {
		if f.Remove(d) != (i != 3) {
			t.Errorf("Remove of key %d is %v", i, i == 3)
		}
	}
	want(0, 0)
}

// The program uses a byte per bit and an object per counter, and does not check its input.
func TestReportBug11MemoryAndInput(t *testing.T) {
	shape := counting.Shape{M: 1 << 16, K: 5, Group: 6}
	f := mustNew(t, shape)
	if got := f.Stats().Bytes; got != 1<<15 || shape.Forecast(1).Bytes != got {
		t.Errorf("2^16 counters of 4 bits take %d bytes, want %d", got, 1<<15)
	}
	for _, s := range []counting.Shape{
		{}, {M: 20}, {K: 3}, {M: 20, K: -1}, {M: 20, K: bloom.MaxK + 1}, {M: 20, K: 3, Width: 1}, {M: 20, K: 3, Width: 5},
		{M: 20, K: 3, Width: 32}, {M: 1<<56 + 1, K: 3}, {M: 65, K: 3, Group: 6}, {M: 64, K: 3, Group: 5},
		{M: 20, K: 3, Hasher: umbel.Hasher{Alg: 99}},
	} {
		if f, err := counting.NewShape(s); !errors.Is(err, umbel.ErrGoal) || f != nil {
			t.Errorf("New(%+v): %v, want an error that wraps %q", s, err, umbel.ErrGoal)
		}
	}
}

// The report's figure 12 shows the cells after a session; 96 different multisets of
// keys give the same picture, since the program's keys 12, 15 and 16 have the same
// positions. Here small keys have different positions, and the order of a session does not
// matter.
func TestReportFigure12(t *testing.T) {
	shape := counting.Shape{M: 20, K: 3}
	seen := make(map[string]int)
	for key := range 20 {
		f := mustNew(t, shape)
		f.AddString(fmt.Sprint(key))
		picture := fmt.Sprint(cellsOf(f))
		if other, ok := seen[picture]; ok {
			t.Errorf("%d and %d give the same cells %s", other, key, picture)
		}
		seen[picture] = key
	}
	forth, back := mustNew(t, shape), mustNew(t, shape)
	for _, key := range []string{"12", "15", "13", "12"} {
		forth.AddString(key)
	}
	for _, key := range []string{"12", "16", "13", "15", "12"} {
		back.AddString(key)
	}
	back.RemoveString("16")
	if !slices.Equal(cellsOf(forth), cellsOf(back)) {
		t.Errorf("two sessions with the same keys at the end give %d and %d", cellsOf(forth), cellsOf(back))
	}
}

// The report claims that a counting filter has fewer false positives than a plain one, and shows
// figure 14, which plots a bound of the overflow. The rates are equal.
func TestReportFigure14(t *testing.T) {
	shape, err := counting.Plan(umbel.Goal{Keys: 1000, FPRate: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape.Forecast(1000).FPRate, (plan.Filter{M: shape.M, K: shape.K}).FPRate(1000); got != want {
		t.Errorf("the forecast is a rate of %g, a plain filter's is %g", got, want)
	}
	if p := (counting.Shape{M: shape.M, K: shape.K}).Overflow(1000, 15); p > 1e-8 {
		t.Errorf("%g counters overflow", p)
	}
}

func cellsOf(f *counting.Filter) []uint64 {
	a := f.State().Arrays[0]
	var all []uint64
	for i := range a.Len {
		all = append(all, a.Get(i))
	}
	return all
}

// count returns how often d was added, or 2^64-1.
func count(f *counting.Filter, d umbel.Digest) uint64 {
	n, _ := f.Count(d)
	return n
}
