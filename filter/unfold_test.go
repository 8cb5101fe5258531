package filter_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestKeysAfterUnfold: Stats of a filter that was unfolded by u counts the keys that were present
// u times, and Stats of a copy that is folded by u counts them once. The copied counters of
// counting cannot be folded back; there Low is 0.
func TestKeysAfterUnfold(t *testing.T) {
	const n, u = 4000, 3
	goal := umbel.Goal{Keys: n, FPRate: 0.01, Hasher: umbel.Hasher{}}
	for _, kind := range filter.All {
		f, err := kind.New(goal, nil)
		if err != nil {
			continue // the kind has no such goal
		}
		unfolded, ok := f.(umbel.Folder)
		if !ok {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			ds := fixture.Digests(1, n)
			for _, d := range ds[:n/2] {
				f.Add(d)
			}
			before := f.Stats()
			if err := unfolded.Unfold(u); err != nil {
				t.Fatal(err)
			}
			if after := f.Stats(); math.Abs(after.FPRate/before.FPRate-1) > 0.1 {
				t.Errorf("the rate is %v after Unfold, want about %v as before", after.FPRate, before.FPRate)
			}
			for _, d := range ds[n/2:] {
				f.Add(d)
			}
			const counted = u*n/2 + n/2
			stats := f.Stats()
			if math.Abs(stats.Keys/counted-1) > 0.1 {
				t.Errorf("%.0f keys after Unfold, want about %d", stats.Keys, counted)
			}
			if kind.Name == counting.Name {
				if stats.Low > n || stats.High < n {
					t.Errorf("from %.0f to %.0f keys, want an interval with %d", stats.Low, stats.High, n)
				}
				return
			}
			if err := unfolded.Fold(u); err != nil {
				t.Fatal(err)
			}
			if folded := f.Stats(); math.Abs(folded.Keys/n-1) > 0.1 {
				t.Errorf("%.0f keys after Fold, want about %d", folded.Keys, n)
			}
		})
	}
}
