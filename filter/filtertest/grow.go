package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// tryAddEqualsAdd: TryAdd has the effect and the result of Add, or it returns an error wrapping
// umbel.ErrLimit and leaves the filter unchanged. It never refuses a present key, and Add
// accepts what TryAdd refused. NextGrowth returns exactly the bytes by which the next absent key
// makes the filter grow. A present key never makes it grow and, if the kind is monotone, changes
// nothing.
func tryAddEqualsAdd(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		g := as[umbel.Grower](t, f)
		other := copyOf(t, v, f)
		_, forecasts := f.(umbel.GrowthForecaster)
		fresh := slices.Concat(extreme, digests(1, int(4*n)), extreme, digests(1, 10))
		for i, d := range fresh {
			if forecasts && (n == sizes[0] || i%100 == 0) && f.Has(fresh[i/2]) {
				addsPresent(t, v, f, g, fresh[i/2])
				other.Add(fresh[i/2])
			}
			compare := n == sizes[0] || i%1000 == 0 // the states of large filters are compared rarely
			var before umbel.State
			if compare {
				before = f.State().Clone()
			}
			had := f.Has(d)
			wantGrowth := growthForecast(t, f)
			changed, err := g.TryAdd(d)
			if !had {
				wantGrowth(err)
			}
			if err == nil {
				if want := other.Add(d); changed != want {
					t.Fatalf("n=%d, key %d: TryAdd(%v) is %v, want %v as Add", n, i, d, changed, want)
				}
				continue
			}
			wantError(t, err, "TryAdd", umbel.ErrLimit)
			if changed || had {
				t.Fatalf("n=%d, key %d: TryAdd(%v) returns an error, changed=%v, and Has was %v", n, i, d, changed, had)
			}
			if compare {
				wantState(t, f, before, "after TryAdd returned an error")
			}
			if !f.Add(d) || !other.Add(d) {
				t.Fatalf("n=%d, key %d: Add(%v) is false after TryAdd returned an error", n, i, d)
			}
		}
		wantState(t, f, other.State(), "filled by TryAdd, compared with Add")
	}
}

// addsPresent adds a present key to a filter that forecasts its growth.
func addsPresent(t tb, v umbel.Kind, f umbel.Filter, g umbel.Grower, d umbel.Digest) {
	t.Helper()
	was := f.State().Bytes()
	changed, err := g.TryAdd(d)
	if err != nil {
		t.Fatalf("TryAdd(%v) returns the error %v, and Has was true", d, err)
	}
	if changed && v.Monotone {
		t.Fatalf("TryAdd(%v) changed a monotone filter, and Has was true", d)
	}
	if now := f.State().Bytes(); now != was {
		t.Fatalf("TryAdd(%v) makes the state %d bytes larger, and Has was true", d, now-was)
	}
}

// growthForecast calls NextGrowth. It returns a function that fails unless the addition of an
// absent key, which returned err, made the filter grow as forecast. If f has no NextGrowth,
// the function does nothing.
func growthForecast(t tb, f umbel.Filter) func(err error) {
	t.Helper()
	g, ok := f.(umbel.GrowthForecaster)
	if !ok {
		return func(error) {}
	}
	bytes, forecast := g.NextGrowth()
	if forecast != nil {
		wantError(t, forecast, "NextGrowth", umbel.ErrLimit)
	}
	was := f.State().Bytes()
	return func(err error) {
		t.Helper()
		if (forecast != nil) != (err != nil) {
			t.Fatalf("NextGrowth returns the error %v, TryAdd of an absent key %v", forecast, err)
		}
		if err == nil {
			if took := f.State().Bytes() - was; took != bytes {
				t.Fatalf("the state grew by %d bytes, NextGrowth returned %d", took, bytes)
			}
		}
	}
}
