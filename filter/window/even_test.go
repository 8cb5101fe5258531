package window

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// TestEvenRates: keys that arrive evenly, n in each window, have at most the planned rate at the end of a generation,
// for any length of the window in ticks. The measured rate is that of a slow model, which counts the keys of each
// generation: slice i, the newest one being 0, has those of the generations up to i of which it was one of the k newest.
// If a window is l generations exactly, it is also that of n/l keys in each generation. The forecast is at least that and at most
// the goal. With -v it prints the table of
// docs/kinds/window.md.
func TestEvenRates(t *testing.T) {
	const n = 4000
	windows, rates := []uint64{1, 2, 3, 5, 11, 12, 13, 20, 23, 30, 100, 600}, []float64{0.1, 0.01, 0.001}
	if testing.Short() {
		windows, rates = []uint64{1, 5, 12, 23, 100}, rates[:2]
	}
	r := fixture.Rand(35)
	random := func() umbel.Digest { return umbel.Digest{H1: r.Uint64(), H2: r.Uint64()} }
	for _, ticks := range windows {
		for _, rate := range rates {
			s, err := Plan(umbel.Goal{Keys: n, FPRate: rate}, ticks)
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewShape(s)
			if err != nil {
				t.Fatal(err)
			}
			counts := []uint64{0} // keys of each generation, newest first
			const moments = 12
			var measured, model, sum uint64
			var want float64
			fills := make([]float64, s.slices())
			for tick := uint64(0); sum < moments; tick++ {
				if generation := tick / s.Ticks; uint64(len(counts)) <= generation {
					counts = append([]uint64{0}, counts...)
				}
				if err := f.Advance(tick); err != nil {
					t.Fatal(err)
				}
				for range (tick+1)*n/ticks - tick*n/ticks {
					f.Add(random())
					counts[0]++
				}
				if len(counts) <= s.slices() || tick%s.Ticks != s.Ticks-1 {
					continue
				}
				sum++
				for age := range fills {
					keys := uint64(0)
					for _, c := range counts[max(0, age-s.K+1) : age+1] {
						keys += c
					}
					fills[age] = plan.Filter{M: s.Slice, K: 1}.Fill(keys)
				}
				want += fpRate(fills, s.K) / moments
				for range int(400 / rate) {
					model++
					if f.Has(random()) {
						measured++
					}
				}
			}
			got := float64(measured) / float64(model)
			if math.Abs(got/want-1) > 0.08 {
				t.Errorf("%d ticks, %v: %+v: measured %.6f, the model %.6f", ticks, rate, s, got, want)
			}
			if want > rate {
				t.Errorf("%d ticks, %v: %+v: a rate of %.6f, above the goal", ticks, rate, s, want)
			}
			load := -float64(n) / float64(s.L) * math.Log1p(-1/float64(s.Slice)) // several of n/l keys may set the same bit
			fillWindow(fills, s.K, float64(s.K)*load)
			even := fpRate(fills, s.K)
			if s.Window() == ticks && math.Abs(even/want-1) > 0.01 {
				t.Errorf("%d ticks, %v: %+v: forecast %.6f, the model %.6f", ticks, rate, s, even, want)
			}
			if once, forecast := s.rateAtOnce(n), s.Forecast(n).FPRate; forecast > rate*(1+1e-9) || forecast < max(even, once)*(1-1e-9) {
				t.Errorf("%d ticks, %v: %+v: forecast %.6f, even %.6f, at once %.6f", ticks, rate, s, forecast, even, once)
			}
			t.Logf("%d ticks, %v: k %d, l %d, %d ticks each, %.2f bits per key: %.3f %% measured, %.3f %% by the model",
				ticks, rate, s.K, s.L, s.Ticks, float64(s.bytes())*8/n, 100*got, 100*want)
		}
	}
}
