package counting_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// In a filter so full that the positions of a key share cells, that counters saturate, and that
// removals of absent keys find a zero after some steps, the loops of all widths, with and
// without a view, do what single cell operations do.
func TestCrowded(t *testing.T) {
	for _, s := range []counting.Shape{
		{M: 64, K: 9, Width: 4, Group: 6}, {M: 128, K: 5, Width: 4}, {M: 64, K: 9, Width: 8, Group: 6},
	} {
		one, viewed := mustNew(t, s), mustNew(t, s)
		viewed.View()
		want, err := cells.New(s.M, s.Width)
		if err != nil {
			t.Fatal(err)
		}
		rng, ds := rand.New(rand.NewPCG(1, 2)), fixture.Digests(3, 40)
		refused := 0
		for step := range 20_000 {
			d := ds[rng.IntN(len(ds))]
			at := one.Locate(nil, d)
			// Few keys and many in turn.
			if adds := rng.IntN(100) < 20+60*(step/1000%2); adds {
				changed := false
				for _, i := range at {
					changed = changed || want.Get(i) != want.Limit()
					want.Inc(i)
				}
				if a, b := one.Add(d), viewed.Add(d); a != changed || b != changed {
					t.Fatalf("%+v, step %d: Add is %v and with a view %v, want %v", s, step, a, b, changed)
				}
			} else {
				before, there, changed := want.Clone(), true, false
				for _, i := range at {
					there = there && want.Get(i) != 0
					changed = changed || want.Get(i) != want.Limit()
					want.Dec(i)
				}
				if !there {
					want = before
					refused++
				}
				if a, b := one.Remove(d), viewed.Remove(d); a != (there && changed) || b != a {
					t.Fatalf("%+v, step %d: Remove is %v and with a view %v, want %v", s, step, a, b, there && changed)
				}
			}
			if !one.State().Arrays[0].Equal(want) || !viewed.State().Arrays[0].Equal(want) {
				t.Fatalf("%+v, step %d: cells differ", s, step)
			}
		}
		if refused == 0 {
			t.Errorf("%+v: no removal was refused", s)
		}
		wantView(t, viewed, "crowded")
	}
}
