package blocked_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
)

// Very low rates are planned too, and the forecast is the planned rate.
func TestPlanRareRates(t *testing.T) {
	last := uint64(0)
	for _, p := range []float64{1e-9, 1e-12, 1e-14, 1e-15, 1e-18} {
		s, err := blocked.Plan(umbel.Goal{Keys: 1000, FPRate: p})
		if err != nil {
			t.Errorf("rate %g: %v", p, err)
			continue
		}
		if got := s.Forecast(1000).FPRate; got > p || got < 0.9*p {
			t.Errorf("rate %g: forecast %g", p, got)
		}
		if s.M <= last || s.M > 1000*50_000 {
			t.Errorf("rate %g: %d bits, %d for a higher rate", p, s.M, last)
		}
		last = s.M
	}
}
func BenchmarkPlan(b *testing.B) {
	for _, n := range []uint64{100, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := blocked.Plan(umbel.Goal{Keys: n, FPRate: 0.01}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			if _, err := blocked.Plan(umbel.Goal{Keys: 1_000_000, Bytes: 1 << 20}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
