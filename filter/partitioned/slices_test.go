package partitioned_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/filter/partitioned"
)

// TestStatsOfFewKeys: Stats.FPRate is the share of all choices of one cell per slice whose cells
// are all set. Its average over filters is the exact rate of its forecast: with fill^k,
// it would be 1.4 % above.
func TestStatsOfFewKeys(t *testing.T) {
	const n = 13
	filters, within := 10_000, 0.006
	if testing.Short() {
		filters, within = 2_500, 0.012 // twice the deviation
	}
	shape := partitioned.Shape{M: 66, K: 3}
	want := shape.Forecast(n).FPRate
	rate := 0.0
	for i := range filters {
		f := filled(t, shape, uint64(i+1), n)
		got := f.Stats().FPRate
		if exact := shareOfSetChoices(f); math.Abs(got-exact) > 1e-12 {
			t.Fatalf("FPRate is %.12f, want %.12f", got, exact)
		}
		rate += got / float64(filters)
	}
	t.Logf("a rate of %.5f on average, expected %.5f: %.4f", rate, want, rate/want)
	if r := rate / want; math.Abs(r-1) > within {
		t.Errorf("FPRate is %.4f of the expected rate, want 1.00", r)
	}
}

// TestStatsOfSlicesAcrossWords compares the rate of slices that begin inside words, in whole words
// and across several of them with all choices of cells.
func TestStatsOfSlicesAcrossWords(t *testing.T) {
	for _, s := range []partitioned.Shape{
		{M: 1, K: 1}, {M: 3, K: 3}, {M: 64, K: 1}, {M: 65, K: 1}, {M: 2 * 63, K: 2}, {M: 2 * 64, K: 2, Group: 6}, {M: 2 * 200, K: 2},
	} {
		f := filled(t, s, 1, int(s.M)/s.K/2+1)
		if got, want := f.Stats().FPRate, shareOfSetChoices(f); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: FPRate is %.12f, want %.12f", s, got, want)
		}
	}
}

// shareOfSetChoices returns the share of the choices of one cell per slice whose cells are all set. It
// takes (M/K)^K steps.
func shareOfSetChoices(f *partitioned.Filter) float64 {
	s := f.Shape()
	size := s.M / uint64(s.K)
	choices, all := 0, 0
	var choose func(slice int, set bool)
	choose = func(slice int, set bool) {
		if slice == s.K {
			all++
			if set {
				choices++
			}
			return
		}
		for i := range size {
			choose(slice+1, set && f.State().Arrays[0].Bit(uint64(slice)*size+i))
		}
	}
	choose(0, true)
	return float64(choices) / float64(all)
}
