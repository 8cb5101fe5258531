package filter_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestLocator: a Locator without the cells returns the cells that the filter returns, and the filter has a digest if and only if
// none of them is zero. Kinds whose Has depends on more have none.
func TestLocator(t *testing.T) {
	with := 0
	for _, kind := range filter.All {
		if kind.Locator == nil {
			continue
		}
		with++
		goal := umbel.Goal{Keys: 3000, FPRate: 0.3}
		switch kind.Name {
		case "squid":
			goal = umbel.Goal{Keys: 3000, Bytes: 2048}
		case "nixbloom":
			goal.Hasher.Alg = umbel.Caller
		}
		f := fixture.Must(kind.New(goal, nil))
		ds := fixture.Digests(1, 6000)
		umbel.AddAll(f, nil, ds[:3000])
		s := f.State()
		l, err := kind.Locator(s)
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		if _, is := l.(umbel.Filter); is {
			t.Errorf("%s: the Locator is a filter without cells", kind.Name)
		}
		absent := 0
		for _, d := range ds {
			at := l.Locate(nil, d)
			if !slices.Equal(at, f.(umbel.Locator).Locate(nil, d)) {
				t.Fatalf("%s: other cells", kind.Name)
			}
			all := len(at) > 0
			for _, i := range at {
				all = all && s.Arrays[0].Get(i) != 0
			}
			if all != f.Has(d) {
				t.Fatalf("%s: Has is %v, and all cells are set: %v", kind.Name, f.Has(d), all)
			}
			if !all {
				absent++
			}
		}
		if absent < 1000 {
			t.Errorf("%s: %d digests are absent, so that the test tests little", kind.Name, absent)
		}
		s.Kind = "x"
		if _, err := kind.Locator(s); err == nil {
			t.Errorf("%s: opens another kind", kind.Name)
		}
	}
	if with != 8 {
		t.Errorf("%d kinds have a Locator, want 8", with)
	}
}
