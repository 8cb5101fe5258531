package window_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

// TestJustExpired measures how often keys are found that expired j generations ago. Of the k bits of such a key
// j have been cleared, and the others are neighbors: the key is found if it has j bits of other keys next to them,
// which is r^j at a fill ratio r of the slices, or if it is a false positive like a key that was never added. With
// -v it prints the table of docs/kinds/window.md.
func TestJustExpired(t *testing.T) {
	for _, rate := range []float64{0.01, 0.001} {
		s, err := window.Plan(umbel.Goal{Keys: 20_000, FPRate: rate}, 600)
		if err != nil {
			t.Fatal(err)
		}
		f := mustNew(t, s)
		add := source(1)
		var generations [][]umbel.Digest // the newest last
		for range 5 * (s.K + s.L) {
			if err := f.Advance(f.Now() + s.Ticks); err != nil {
				t.Fatal(err)
			}
			keys := make([]umbel.Digest, s.Limit)
			for i := range keys {
				keys[i] = add()
				f.Add(keys[i])
			}
			generations = append(generations, keys)
		}
		// The slices next to the remaining bits of an expired key have received the keys of k generations.
		load := float64(s.K) * float64(s.Limit) / float64(s.Slice)
		r := -math.Expm1(-load)
		for j := 1; j <= s.K; j++ {
			expired := generations[len(generations)-1-s.L-j]
			found := 0
			for _, d := range expired {
				if f.Has(d) {
					found++
				}
			}
			got, want := float64(found)/float64(len(expired)), math.Pow(r, float64(j))
			sigma := math.Sqrt(want*(1-want)/float64(len(expired))) + 1/float64(len(expired))
			t.Logf("rate %g, k %d, l %d, fill %.3f: %d generations after a key has expired: %.2f%% are found, want %.2f%% ± %.2f%%", rate, s.K, s.L, r, j, 100*got, 100*want, 100*sigma)
			if got < want-4*sigma || got > want+4*sigma+float64(j+1)*rate {
				t.Errorf("rate %g: %d generations after keys have expired %.4f of them are found, want %.4f ± %.4f", rate, j, got, want, sigma)
			}
		}
	}
}
