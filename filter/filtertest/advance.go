package filtertest

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// advances: time doesn't go back, told the same time twice nothing happens, what was
// added just now stays at that time, and at the end of time all is forgotten. A filter
// told its time in steps is the one told at once, where nothing is added between.
func advances(t tb, v umbel.Kind) {
	const start = 1 << 40
	for _, n := range sizes {
		f := make1(t, v, n)
		a := as[umbel.Advancer](t, f)
		advance := func(f umbel.Filter, to uint64) umbel.Filter {
			t.Helper()
			if err := f.(umbel.Advancer).Advance(to); err != nil {
				t.Fatalf("Advance(%d): %v", to, err)
			}
			return f
		}
		addAll(f, digests(1, int(n)/2))
		advance(f, start)
		ds := append(digests(2, int(n)/4), extreme...)
		addAll(f, ds)
		was := f.State().Clone()
		for _, to := range []uint64{0, 1, start - 1} {
			wantError(t, a.Advance(to), "Advance back in time", umbel.ErrMismatch)
			wantState(t, f, was, "after Advance back in time")
		}
		advance(f, start)
		wantState(t, f, was, "told the same time twice")
		wantAll(t, f, ds, "at the time when they were added")

		steps := twin(t, v, f)
		for _, step := range []uint64{1, 2, 3, 5, 8, 1000} {
			advance(steps, start+step)
			wantState(t, steps, advance(twin(t, v, f), start+step).State(), "advanced in steps, against at once")
		}

		empty := advance(make1(t, v, n), math.MaxUint64)
		wantState(t, advance(f, math.MaxUint64), empty.State(), "at the end of time, against nothing added")
		addAll(f, ds)
		wantAll(t, f, ds, "added at the end of time")
	}
}
