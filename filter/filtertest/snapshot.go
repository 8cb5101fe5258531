package filtertest

import (
	"sync"

	"github.com/umbel-filters/umbel"
)

// cloneAtomic: a copy that is made while keys are added contains all keys whose addition returned before, and
// opens.
func cloneAtomic(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		a := as[umbel.AtomicAdder](t, f)
		ds := digests(1, int(n))
		for _, d := range ds[:len(ds)/2] {
			a.AddAtomic(d)
		}
		var adder sync.WaitGroup
		adder.Go(func() {
			for _, d := range ds[len(ds)/2:] {
				a.AddAtomic(d)
			}
		})
		copied := cloneOf(t, f, "CloneAtomic")
		adder.Wait()
		wantAll(t, copied, ds[:len(ds)/2], "added before CloneAtomic")
		if _, err := v.Open(copied.State()); err != nil {
			t.Errorf("the copy does not open: %v", err)
		}
		wantState(t, cloneOf(t, f, "CloneAtomic"), f.State(), "of a CloneAtomic without additions")
		before := f.State().Clone()
		addAll(cloneOf(t, f, "CloneAtomic"), digests(2, 200))
		wantState(t, f, before, "after a CloneAtomic changed")
	}
}
