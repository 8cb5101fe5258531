package weighted_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// However a digest was added, every query that knows at most as much finds it.
func TestNoFalseNegativesInAnyMixture(t *testing.T) {
	for name, s := range threeWays {
		ds := fixture.Digests(9, 4000) // of which the first 500 are in the table, if there is one
		f := mustNew(t, s)
		changed, has := make([]bool, len(ds)), make([]bool, len(ds))
		f.AddAll(changed[:1000], ds[:1000])
		f.AddAllAtomic(ds[1000:2000])
		for i, d := range ds[2000:] {
			switch i % 4 {
			case 0:
				f.Add(d)
			case 1:
				f.AddAtomic(d)
			default:
				f.AddClass(d, i%5-1) // of which -1 and 3 aren't there
			}
		}
		f.HasAll(has, ds)
		for i, d := range ds {
			if !f.Has(d) || !has[i] {
				t.Fatalf("by %s: Has of digest %d is %v, by HasAll %v", name, i, f.Has(d), has[i])
			}
			class := (i-2000)%5 - 1
			if i >= 2000 && (i-2000)%4 >= 2 && !f.HasClass(d, class) {
				t.Fatalf("by %s: digest %d was added with class %d and isn't found with it", name, i, class)
			}
			if added := i < 2000 || (i-2000)%4 < 2; added || name == "digest" {
				for class := -1; class <= 3; class++ {
					if !f.HasClass(d, class) {
						t.Fatalf("by %s: digest %d was added with no class and isn't found with class %d", name, i, class)
					}
				}
			}
		}
		if f.AddAll(changed, ds); slices.Contains(changed[:2000], true) {
			t.Errorf("by %s: present keys change the filter", name)
		}
	}
}

// Single additions, batches and atomic additions set the same bits and report each change
// once.
func TestBatchesOfSeveralClasses(t *testing.T) {
	ds := fixture.Digests(9, 3000)
	one, batch, atomic := mustNew(t, byDigest), mustNew(t, byDigest), mustNew(t, byDigest)
	want, got := make([]bool, len(ds)), make([]bool, len(ds))
	for i, d := range ds {
		want[i] = one.Add(d)
	}
	batch.AddAll(got, ds)
	atomic.AddAllAtomic(ds)
	if !slices.Equal(got, want) || !bits(batch).Equal(bits(one)) || !bits(atomic).Equal(bits(one)) {
		t.Error("AddAll or AddAllAtomic differs from single additions")
	}
	other := fixture.Digests(3, 20_000)
	has := make([]bool, len(other))
	one.HasAll(has, other)
	for i, d := range other {
		if has[i] != one.Has(d) {
			t.Fatalf("HasAll of digest %d is %v, Has %v", i, has[i], one.Has(d))
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		one.HasAll(has, other)
		one.AddAll(got, ds)
		one.AddAllAtomic(ds)
		one.Has(ds[0])
		one.Add(ds[1])
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

// The cells of a class are the first of every class with a larger k, and a digest has the
// class that it was given.
func TestPositionsAreNested(t *testing.T) {
	largest := mustNew(t, byProgram)
	for name, s := range threeWays {
		f := mustNew(t, s)
		for i, d := range fixture.Digests(9, 500) {
			all := largest.LocateClass(nil, d, 2)
			if len(all) != 13 {
				t.Fatalf("a key of class 2 has %d cells, want 13", len(all))
			}
			want := 2 // the least
			if name == "digest" {
				want = threeClasses[i%3].K
			}
			for class, c := range threeClasses {
				k := c.K
				if name == "digest" {
					k = want
				}
				if at := f.LocateClass(nil, d, class); !slices.Equal(at, all[:k]) {
					t.Fatalf("by %s: a key of class %d has the cells %d, want the first %d of %d", name, class, at, k, all)
				}
			}
			if at := f.Locate(nil, d); !slices.Equal(at, all[:want]) {
				t.Fatalf("by %s: digest %d has the cells %d, want the first %d of %d", name, i, at, want, all)
			}
			if at := f.LocateClass(nil, d, 7); !slices.Equal(at, all[:want]) {
				t.Fatalf("by %s: an unknown class has the cells %d, want %d", name, at, all[:want])
			}
		}
	}
}

// The longest prefix determines the class of a key, as bytes and as a string.
func TestPrefixes(t *testing.T) {
	f := mustNew(t, byPrefix)
	for key, want := range map[string]int{"": 0, "a": 0, "a/": 1, "a/x": 1, "a/b": 1, "a/b/": 2, "a/b/d": 2, "a/b/c/": 0, "a/b/c/d": 0, "b/b": 2, "c/": 0, "\xff": 0} {
		class, ok := f.Class([]byte(key))
		if !ok || class != want {
			t.Errorf("%q is of class %d, %v; want %d", key, class, ok, want)
		}
		before := f.Stats().Fill * float64(bits(f).Len)
		f.AddString(key)
		if set := int(f.Stats().Fill*float64(bits(f).Len) - before + 0.5); set != threeClasses[want].K {
			t.Errorf("adding %q set %d cells, want the %d of class %d", key, set, threeClasses[want].K, want)
		}
		if !f.HasString(key) || !f.HasBytes([]byte(key)) || f.AddBytes([]byte(key)) || !f.Has(f.Hasher().HashString(key)) {
			t.Errorf("%q was added and is absent, or lacks cells", key)
		}
	}
	key := []byte(strings.Repeat("a/b/c/", 50))
	if n := testing.AllocsPerRun(100, func() { f.HasBytes(key); f.AddBytes(key); f.HasString("a/b/c/d") }); n != 0 {
		t.Errorf("%g allocations a call, want 0", n)
	}
	for _, s := range []weighted.Shape{byProgram, byDigest} {
		if _, ok := mustNew(t, s).Class([]byte("a/")); ok {
			t.Error("a key has a class, and there are no prefixes")
		}
	}
}

// Errors wrap ErrGoal and name the wrong number.
func TestShapeRefuses(t *testing.T) {
	d := umbel.Digest{H1: 1 << 60, H2: 1}
	k := func(ks ...int) (cs []weighted.Class) {
		for _, k := range ks {
			cs = append(cs, weighted.Class{K: k})
		}
		return cs
	}
	for name, c := range map[string]struct {
		shape weighted.Shape
		says  string
	}{
		"zero":                 {weighted.Shape{}, "0"},
		"no class":             {weighted.Shape{M: 64}, "0"},
		"too many classes":     {weighted.Shape{M: 64, Classes: make([]weighted.Class, 65)}, "65"},
		"k of 0":               {weighted.Shape{M: 64, Classes: k(3, 0)}, "1 is 0"},
		"k of 257":             {weighted.Shape{M: 64, Classes: k(257)}, "257"},
		"group":                {weighted.Shape{M: 64, Classes: k(3), Group: 5}, "2^5"},
		"part of a group":      {weighted.Shape{M: 65, Classes: k(3), Group: 6}, "65"},
		"hasher":               {weighted.Shape{M: 64, Classes: k(3), Hasher: umbel.Hasher{Alg: 99}}, "99"},
		"share":                {weighted.Shape{M: 64, Classes: []weighted.Class{{K: 3}, {K: 2, Queries: 1.5}}}, "1.5"},
		"shares":               {weighted.Shape{M: 64, Classes: []weighted.Class{{K: 3}, {K: 2, Members: 0.6}, {K: 2, Members: 0.6}}}, "1.2"},
		"two tables":           {weighted.Shape{M: 64, Classes: k(3, 4), Hot: []weighted.Hot{{d, 1}}, Prefixes: []weighted.Prefix{{"a", 1}}}, "1"},
		"digest of class 0":    {weighted.Shape{M: 64, Classes: k(3, 4), Hot: []weighted.Hot{{d, 0}}}, "class 0"},
		"digest of class 2":    {weighted.Shape{M: 64, Classes: k(3, 4), Hot: []weighted.Hot{{d, 2}}}, "class 2"},
		"digest twice":         {weighted.Shape{M: 64, Classes: k(3, 4, 5), Hot: []weighted.Hot{{d, 1}, {d, 2}}}, "1"},
		"prefix of class -1":   {weighted.Shape{M: 64, Classes: k(3, 4), Prefixes: []weighted.Prefix{{"a", -1}}}, "class -1"},
		"prefix of class 2":    {weighted.Shape{M: 64, Classes: k(3, 4), Prefixes: []weighted.Prefix{{"a", 2}}}, "class 2"},
		"prefix twice":         {weighted.Shape{M: 64, Classes: k(3, 4), Prefixes: []weighted.Prefix{{"a", 1}, {"b", 1}, {"a", 0}}}, "1"},
		"prefix of no bytes":   {weighted.Shape{M: 64, Classes: k(3, 4), Prefixes: []weighted.Prefix{{"", 1}}}, "0"},
		"prefix of many bytes": {weighted.Shape{M: 64, Classes: k(3, 4), Prefixes: []weighted.Prefix{{strings.Repeat("a", 256), 1}}}, "256"},
	} {
		_, err := weighted.NewShape(c.shape)
		if !errors.Is(err, umbel.ErrGoal) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that wraps %q and says %q", name, err, umbel.ErrGoal, c.says)
		}
		if checked := c.shape.Check(); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Errorf("%s: Check says %v, New %v", name, checked, err)
		}
	}
	// One digest twice in the same class, or two that share 56 bits, is no error.
	near := umbel.Digest{H1: d.H1 + 200, H2: 7}
	f := mustNew(t, weighted.Shape{M: 64, Classes: k(3, 4, 5), Hot: []weighted.Hot{{d, 1}, {d, 1}, {near, 2}}})
	if hot := f.Shape().Hot; len(hot) != 1 || len(f.Locate(nil, d)) != 5 || len(f.Locate(nil, near)) != 5 {
		t.Errorf("the table is %v, and its digests have %d and %d cells, want 5", hot, len(f.Locate(nil, d)), len(f.Locate(nil, near)))
	}
}
