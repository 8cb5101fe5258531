package counting_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// A filter large enough for prefetching has the same contents after single additions and after
// batches of any length, with and without a view.
func TestFarBatches(t *testing.T) {
	s, err := counting.Plan(umbel.Goal{Keys: 2_000_000, FPRate: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	ds := fixture.Digests(1, 3000)
	one, all, viewed := mustNew(t, s), mustNew(t, s), mustNew(t, s)
	viewed.View()
	for _, d := range ds[:2000] {
		one.Add(d)
	}
	for from, n := 0, 1; from < 2000; n += 7 {
		to := min(from+n, 2000)
		all.AddAll(nil, ds[from:to])
		changed := make([]bool, to-from)
		viewed.AddAll(changed, ds[from:to])
		if slices.Contains(changed, false) {
			t.Fatal("an addition below saturation changes nothing")
		}
		from = to
	}
	for name, f := range map[string]*counting.Filter{"in batches": all, "with a view": viewed} {
		if !f.State().Arrays[0].Equal(one.State().Arrays[0]) {
			t.Errorf("added %s the filter differs", name)
		}
		has := make([]bool, len(ds))
		f.HasAll(has, ds)
		for i, d := range ds {
			if has[i] != one.Has(d) {
				t.Fatalf("%s, HasAll of key %d is %v", name, i, has[i])
			}
		}
		for _, d := range ds[:2000] {
			if !f.Remove(d) {
				t.Fatalf("%s, a key that was added can't be removed", name)
			}
		}
		if !f.IsEmpty() {
			t.Errorf("%s, the filter isn't empty when all keys are removed", name)
		}
	}
}
