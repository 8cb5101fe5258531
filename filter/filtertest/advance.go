package filtertest

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// advances: Advance to an earlier time is an error wrapping umbel.ErrMismatch. A second Advance
// to the same time changes nothing, and keys that were just added are still present. At the
// largest time the filter is empty. Several steps have the same result as one if nothing is
// added in between.
func advances(t tb, v umbel.Kind) {
	const start = 1 << 40
	for _, n := range sizes {
		f := newFilter(t, v, n)
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
		wantState(t, f, was, "after Advance to the same time")
		wantAll(t, f, ds, "at the time of their addition")

		steps := copyOf(t, v, f)
		for _, step := range []uint64{1, 2, 3, 5, 8, 1000} {
			advance(steps, start+step)
			wantState(t, steps, advance(copyOf(t, v, f), start+step).State(), "advanced in steps, compared with one step")
		}

		empty := advance(newFilter(t, v, n), math.MaxUint64)
		wantState(t, advance(f, math.MaxUint64), empty.State(), "at the largest time, compared with an empty filter")
		addAll(f, ds)
		wantAll(t, f, ds, "added at the largest time")
	}
}
