package counting_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Four keys by their positions in 16 cells: a, b and c in one filter, b, c and d in the other.
// The expected cells were computed by hand.
func TestCountingOperations(t *testing.T) {
	filled := func(keys ...[]uint64) cells.Array {
		a, err := cells.New(16, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			for _, i := range key {
				a.Inc(i)
			}
		}
		return a
	}
	a, b, c, d := []uint64{1, 5, 9}, []uint64{5, 6, 15}, []uint64{0, 5, 9}, []uint64{2, 6}
	want := func(what string, got cells.Array, want ...uint64) {
		t.Helper()
		for i, v := range want {
			if got.Get(uint64(i)) != v {
				t.Errorf("%s: cell %d is %d, want %d", what, i, got.Get(uint64(i)), v)
			}
		}
	}
	one, two := filled(a, b, c), filled(b, c, d)
	want("one", one, 1, 1, 0, 0, 0, 3, 1, 0, 0, 2, 0, 0, 0, 0, 0, 1)
	want("two", two, 1, 0, 1, 0, 0, 2, 2, 0, 0, 1, 0, 0, 0, 0, 0, 1)
	sum, most, least := one.Clone(), one.Clone(), one.Clone()
	if err := errors.Join(sum.Sum(two), most.Max(two), least.Min(two)); err != nil {
		t.Fatal(err)
	}
	want("sum", sum, 2, 1, 1, 0, 0, 5, 3, 0, 0, 3, 0, 0, 0, 0, 0, 2)
	want("max", most, 1, 1, 1, 0, 0, 3, 2, 0, 0, 2, 0, 0, 0, 0, 0, 1)
	want("min", least, 1, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1)
	if !most.Equal(filled(a, b, c, d)) || !least.Equal(filled(b, c)) {
		t.Error("here max is the union of the sets, and min what they have in common")
	}
	if err := sum.Subtract(two); err != nil || !sum.Equal(one) {
		t.Errorf("sum less two isn't one: %v", err)
	}
	if err := one.Subtract(two); !errors.Is(err, cells.ErrLess) {
		t.Errorf("two isn't in one, and the error is %v", err)
	}
}

// Sailhan and Stehr 2012, section II, property 5: counting filters can be subtracted.
// Difference undoes Merge, at any size, until counters saturate.
func TestDifferenceUndoesMerge(t *testing.T) {
	for _, width := range []uint{4, 8, 16} {
		small := counting.Shape{M: 64 * 210, K: 5, Width: width, Group: 6}
		large := small
		large.M *= 6
		a, b := fixture.Digests(1, 1500), fixture.Digests(2, 800)
		want := mustNew(t, small)
		want.AddAll(nil, a)
		for _, c := range [][2]counting.Shape{{small, small}, {small, large}, {large, small}} {
			f, g := mustNew(t, c[0]), mustNew(t, c[1])
			f.AddAll(nil, a)
			g.AddAll(nil, b)
			theirs := g.State().Clone()
			if err := errors.Join(f.Merge(g.State()), f.Difference(g.State())); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(cellsOf(f), cellsOf(want)) {
				t.Errorf("%+v with %+v and without: other counters than before", c[0], c[1])
			}
			if !g.State().Arrays[0].Equal(theirs.Arrays[0]) {
				t.Error("the other filter changed")
			}
			if f.AddAll(nil, b); errors.Join(f.Difference(g.State()), f.Difference(want.State())) != nil || !f.IsEmpty() {
				t.Error("all keys were subtracted, but the filter isn't empty")
			}
		}
	}
}

func TestDifferenceRefuses(t *testing.T) {
	shape := counting.Shape{M: 64 * 40, K: 4, Group: 6}
	f := mustNew(t, shape)
	f.AddAll(nil, fixture.Digests(1, 100))
	before := f.State().Clone()
	other := func(s counting.Shape, change func(*counting.Filter)) umbel.State {
		g := mustNew(t, s)
		change(g)
		return g.State()
	}
	nothing := func(*counting.Filter) {}
	wide, k, group, m := shape, shape, shape, shape
	wide.Width, k.K, group.Group, m.M = 8, 5, 0, 64*7
	saturated := func(g *counting.Filter) {
		for range 20 {
			g.Add(fixture.Digests(1, 1)[0])
		}
	}
	copied := func(g *counting.Filter) {
		g.AddAll(nil, fixture.Digests(1, 10))
		if err := errors.Join(g.Fold(2), g.Unfold(2)); err != nil {
			t.Fatal(err)
		}
	}
	for what, s := range map[string]umbel.State{
		"what isn't there":   other(shape, func(g *counting.Filter) { g.AddAll(nil, fixture.Digests(2, 10)) }),
		"more than is there": other(shape, func(g *counting.Filter) { g.AddAll(nil, fixture.Digests(1, 100)); g.Add(fixture.Digests(1, 1)[0]) }),
		"saturated":          other(shape, saturated),
		"copied":             other(shape, copied),
		"width":              other(wide, nothing),
		"k":                  other(k, nothing),
		"group":              other(group, nothing),
		"size":               other(m, nothing),
		"zero":               new(counting.Filter).State(),
		"kind":               {Kind: "bloom"},
	} {
		if err := f.Difference(s); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("%s: %v, want an error that wraps %q", what, err, umbel.ErrMismatch)
		}
		if got := f.State(); !got.Arrays[0].Equal(before.Arrays[0]) || !slices.Equal(got.Params, before.Params) {
			t.Fatalf("%s: the filter changed", what)
		}
	}
}

// After any additions, removals, merges, differences, folds and unfolds, present keys are
// found, Count is never too low, and removals of present keys are refused only while all their
// counters are saturated.
func TestNoFalseNegativeEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := counting.Shape{M: rapid.SampledFrom([]uint64{24, 240, 64 * 30}).Draw(t, "m"), K: rapid.IntRange(1, 8).Draw(t, "k")}
		if shape.M%64 == 0 {
			shape.Group = 6
		}
		f := mustNew(t, shape)
		there := make(map[umbel.Digest]uint64)
		draw := rapid.SampledFrom(fixture.Digests(1, 12))
		t.Repeat(map[string]func(*rapid.T){
			"Add": func(t *rapid.T) {
				d := draw.Draw(t, "key")
				times := rapid.SampledFrom([]uint64{1, 1, 1, 2, 5, 20}).Draw(t, "times")
				for range times {
					f.Add(d)
				}
				there[d] += times
			},
			"Remove": func(t *rapid.T) {
				d := draw.Draw(t, "key")
				if there[d] == 0 {
					return
				}
				there[d]--
				if _, known := f.Count(d); f.Remove(d) != known {
					t.Fatalf("Remove(%v) of a present key is %v", d, !known)
				}
			},
			"Merge": func(t *rapid.T) {
				g := mustNew(t, f.Shape())
				for range rapid.IntRange(0, 5).Draw(t, "n") {
					d := draw.Draw(t, "key")
					g.Add(d)
					there[d]++
				}
				if err := f.Merge(g.State()); err != nil {
					t.Fatal(err)
				}
			},
			"Difference": func(t *rapid.T) {
				g, gone := mustNew(t, f.Shape()), make(map[umbel.Digest]uint64)
				for range rapid.IntRange(0, 5).Draw(t, "n") {
					if d := draw.Draw(t, "key"); there[d] > gone[d] {
						g.Add(d)
						gone[d]++
					}
				}
				if err := f.Difference(g.State()); err != nil {
					t.Fatalf("the difference with present keys: %v", err)
				}
				for d, n := range gone {
					there[d] -= n
				}
			},
			"Fold": func(t *rapid.T) {
				_ = f.Fold(rapid.SampledFrom([]uint64{2, 3}).Draw(t, "r"))
			},
			"Unfold": func(t *rapid.T) {
				if f.Shape().M < 10_000 {
					_ = f.Unfold(rapid.SampledFrom([]uint64{2, 3}).Draw(t, "u"))
				}
			},
			"": func(t *rapid.T) {
				for d, n := range there {
					if got, _ := f.Count(d); got < n || n > 0 && !f.Has(d) {
						t.Fatalf("%v was added %d times: Count is %d and Has %v", d, n, got, f.Has(d))
					}
				}
			},
		})
	})
}

// Saturated counters do not change: a key all of whose counters are saturated stays, its count
// is unknown, and Add changes nothing.
func TestSaturation(t *testing.T) {
	for width, limit := range map[uint]uint64{4: 15, 8: 255, 16: 65535} {
		f := mustNew(t, counting.Shape{M: 1000, K: 5, Width: width})
		d := fixture.Digests(1, 1)[0]
		for i := range limit {
			if n, _ := f.Count(d); n != i {
				t.Fatalf("added %d times, counted %d", i, n)
			}
			if !f.Add(d) {
				t.Fatalf("addition %d changes nothing", i+1)
			}
		}
		if n, known := f.Count(d); n != math.MaxUint64 || known || f.Add(d) {
			t.Errorf("at the limit Count is %d, known %v, or Add reports a change", n, known)
		}
		if n, exact := f.Additions(); exact || n != limit {
			t.Errorf("%d additions, exactly %v, want at least %d", n, exact, limit)
		}
		for range 2 * limit {
			if f.Remove(d) || !f.Has(d) {
				t.Fatal("a key of unknown count is removed")
			}
		}
		other := mustNew(t, f.Shape())
		other.Add(d)
		before := cellsOf(f)
		if err := errors.Join(f.Difference(other.State()), f.Merge(f.State()), f.Difference(f.State())); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cellsOf(f), before) {
			t.Error("saturated counters changed")
		}
	}
}

// Removal of a key after Unfold decrements one copy: the others stay, with the keys that they
// stand for.
func TestRemoveAfterUnfold(t *testing.T) {
	shape := counting.Shape{M: 64 * 15, K: 4, Group: 6}
	f := mustNew(t, shape)
	ds := fixture.Digests(1, 100)
	f.AddAll(nil, ds)
	if err := f.Unfold(4); err != nil {
		t.Fatal(err)
	}
	if _, exact := f.Additions(); exact {
		t.Error("after Unfold the number of additions is exact")
	}
	for i, d := range ds {
		if !f.Remove(d) {
			t.Fatalf("key %d isn't removed", i)
		}
		for _, other := range ds[i+1:] {
			if !f.Has(other) {
				t.Fatal("a key is lost")
			}
		}
	}
	g, err := counting.Open(f.State().Clone())
	if err != nil {
		t.Fatal(err)
	}
	if _, exact := g.Additions(); exact {
		t.Error("the state doesn't record that counters were copied")
	}
	empty := mustNew(t, shape)
	if err := empty.Unfold(4); err != nil {
		t.Fatal(err)
	}
	if _, exact := empty.Additions(); !exact {
		t.Error("Unfold of an empty filter copies nothing")
	}
}

// Counters that Unfold copied count a key once per copy: subtracting them would reduce the
// counts of other keys, which no counter shows.
func TestDifferenceOfCopies(t *testing.T) {
	large := counting.Shape{M: 128, K: 1, Group: 6}
	small := large
	small.M = 64
	// Two keys that share a cell only in the fold.
	var one, other umbel.Digest
	f := mustNew(t, large)
	for i, d := range fixture.Digests(1, 1000) {
		at := f.Locate(nil, d)[0]
		if i == 0 {
			one = d
		} else if was := f.Locate(nil, one)[0]; at != was && at%64 == was%64 {
			other = d
			break
		}
	}
	f.Add(one)
	f.Add(other)
	copies := mustNew(t, small)
	copies.Add(one)
	if err := copies.Unfold(2); err != nil {
		t.Fatal(err)
	}
	if err := f.Difference(copies.State()); !errors.Is(err, umbel.ErrMismatch) || !f.Has(one) || !f.Has(other) {
		t.Errorf("Difference of copies: %v, want an error that wraps %q, and both keys there: %v, %v",
			err, umbel.ErrMismatch, f.Has(one), f.Has(other))
	}
}
