package folding_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestDay follows the rate of a filter for ten days, each with 1440 changes of the number of keys
// between 3 % of the planned number and all. The upper end of the interval always holds. The lower
// end does not always hold, because a folded filter does not shrink at once. With -v it
// prints the figures of docs/kinds/folding.md.
func TestDay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const most, minutes, days = 1000, 1440, 10
	for _, c := range []struct {
		fpRate, tolerance float64 // of the goal; tolerance is a share of the rate kept
		below, mean       float64 // minutes below the interval; average rate
	}{
		{0.012, 0.2, 0.249, 0.00919},
		{0.011, 0.1, 0.673, 0.00798},
	} {
		s, err := folding.Plan(umbel.Goal{Keys: most, FPRate: c.fpRate})
		if err != nil {
			t.Fatal(err)
		}
		s.Width = 4
		rho := c.fpRate / (1 + c.tolerance)
		if s, err = s.Keep(rho, c.tolerance*rho); err != nil {
			t.Fatal(err)
		}
		low, high := s.Interval()
		below, above, mean := 0, 0, 0.0
		for day := range days {
			f := mustCounting(t, s)
			ds := fixture.Digests(uint64(day+1), most)
			n := 0
			for minute := range minutes {
				phase := 2 * math.Pi * (float64(minute)/minutes + float64(day)/days)
				for want := int(most * (0.515 - 0.485*math.Cos(phase))); n != want; {
					if n < want {
						f.Add(ds[n])
						n++
					} else {
						n--
						f.Remove(ds[n])
					}
				}
				rate := f.Stats().FPRate
				mean += rate / minutes / days
				if rate < low {
					below++
				} else if rate > high {
					above++
				}
			}
		}
		share := float64(below) / minutes / days
		t.Logf("from %.4f to %.4f: below in %.1f %% of the minutes, above in %d, %.5f on average", low, high, 100*share, above, mean)
		if above != 0 {
			t.Errorf("above the interval in %d minutes, want none", above)
		}
		if math.Abs(share-c.below) > 0.01 || math.Abs(mean-c.mean) > 1e-4 {
			t.Errorf("below the interval in %.3f of the minutes, a rate of %.5f on average, want %.3f and %.5f", share, mean, c.below, c.mean)
		}
	}
}
