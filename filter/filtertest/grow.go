package filtertest

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// tryAdds: TryAdd does and reports what Add does, or refuses with an error that wraps
// umbel.ErrLimit and leaves the filter as it was; a key that is there is never refused,
// and Add takes what TryAdd refused. A filter that tells beforehand when it grows is
// right, to the byte. A present key makes it grow at no fill level. If the kind is
// monotone, the addition of a present key changes nothing.
func tryAdds(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		g := as[umbel.Grower](t, f)
		other := twin(t, v, f)
		_, forecasts := f.(umbel.GrowthForecaster)
		fresh := slices.Concat(extreme, digests(1, int(4*n)), extreme, digests(1, 10))
		for i, d := range fresh {
			if forecasts && (n == sizes[0] || i%100 == 0) && f.Has(fresh[i/2]) {
				addsPresent(t, v, f, g, fresh[i/2])
				other.Add(fresh[i/2])
			}
			compare := n == sizes[0] || i%1000 == 0 // all of a large filter, now and then
			var before umbel.State
			if compare {
				before = f.State().Clone()
			}
			had := f.Has(d)
			foretold := foretell(t, f)
			changed, err := g.TryAdd(d)
			if !had {
				foretold(changed, err)
			}
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

// addsPresent adds a present key to a filter that forecasts its growth.
func addsPresent(t tb, v umbel.Kind, f umbel.Filter, g umbel.Grower, d umbel.Digest) {
	t.Helper()
	was := f.State().Bytes()
	changed, err := g.TryAdd(d)
	if err != nil {
		t.Fatalf("TryAdd(%v) refuses with %v, and Has was true", d, err)
	}
	if changed && v.Monotone {
		t.Fatalf("TryAdd(%v) changed a monotone filter, and Has was true", d)
	}
	if now := f.State().Bytes(); now != was {
		t.Fatalf("TryAdd(%v) takes %d bytes more, and Has was true", d, now-was)
	}
}

// foretell asks a filter what its next new key takes, and returns a function that fails
// unless that is what happened. For kinds that don't tell it does nothing.
func foretell(t tb, f umbel.Filter) func(changed bool, err error) {
	t.Helper()
	teller, ok := f.(umbel.GrowthForecaster)
	if !ok {
		return func(bool, error) {}
	}
	bytes, foretold := teller.NextGrowth()
	if foretold != nil {
		wantError(t, foretold, "Growth", umbel.ErrLimit)
	}
	was := f.State().Bytes()
	return func(changed bool, err error) {
		t.Helper()
		if (foretold != nil) != (err != nil) {
			t.Fatalf("Growth gives the error %v, and TryAdd of a new key %v", foretold, err)
		}
		if err == nil {
			if took := f.State().Bytes() - was; took != bytes {
				t.Fatalf("a key takes %d bytes, and Growth said %d", took, bytes)
			}
		}
	}
}
