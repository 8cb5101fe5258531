package occupancy

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestVariance compares with the moments of the whole distribution.
func TestVariance(t *testing.T) {
	for _, c := range []struct {
		m uint64
		t int
	}{{2, 3}, {10, 1}, {10, 2}, {64, 40}, {1000, 1000}, {1000, 5000}, {100_000, 20}, {1_000_000, 200}} {
		m := float64(c.m)
		mean := Mean(c.m, c.t, func(f float64) float64 { return f * m })
		want := Mean(c.m, c.t, func(f float64) float64 { return (f*m - mean) * (f*m - mean) })
		if got := Variance(m, float64(c.t)); math.Abs(got-want) > 1e-7*want+1e-10 {
			t.Errorf("m=%d t=%d: variance %.10g, chain has %.10g", c.m, c.t, got, want)
		}
	}
	// The series and the closed form meet at a load of 1e-4.
	for _, m := range []float64{1e6, 1e9, 1e18} {
		low, high := Variance(m, 0.99999e-4*m), Variance(m, 1.00001e-4*m)
		if slope := high / low; !fixture.Near(slope, 1.00004, 1e-5) {
			t.Errorf("m=%g: variance goes from %g to %g", m, low, high)
		}
	}
}
