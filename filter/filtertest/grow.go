package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// tryAdds: TryAdd does and reports what Add does, or refuses with an error that wraps
// umbel.ErrLimit and leaves the filter as it was; a key that is there is never refused,
// and Add takes what TryAdd refused.
func tryAdds(t tb, v umbel.Variant) {
	for _, n := range sizes {
		f := make1(t, v, n)
		g := as[umbel.Grower](t, f)
		other := twin(t, v, f)
		for i, d := range slices.Concat(extreme, digests(1, int(4*n)), extreme, digests(1, 10)) {
			compare := n == sizes[0] || i%1000 == 0 // all of a large filter, now and then
			var before umbel.State
			if compare {
				before = f.State().Clone()
			}
			had := f.Has(d)
			changed, err := g.TryAdd(d)
			if err == nil {
				if want := other.Add(d); changed != want {
					t.Fatalf("n=%d, key %d: TryAdd(%v) is %v, and Add %v", n, i, d, changed, want)
				}
				continue
			}
			wantError(t, err, "TryAdd", umbel.ErrLimit)
			if changed || had {
				t.Fatalf("n=%d, key %d: TryAdd(%v) refuses, changed %v, and Has was %v", n, i, d, changed, had)
			}
			if compare {
				wantState(t, f, before, "after TryAdd has refused")
			}
			if !f.Add(d) || !other.Add(d) {
				t.Fatalf("n=%d, key %d: Add(%v) is false after TryAdd has refused", n, i, d)
			}
		}
		wantState(t, f, other.State(), "by TryAdd, against Add")
	}
}
