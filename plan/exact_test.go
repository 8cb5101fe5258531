package plan

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Computed from the equation of Bose et al. 2008 with large integers:
// sum over i of S(k,i) (m)_i m^-k sum over j of (-1)^j C(i,j) (1-j/m)^(kn).
func TestBoseEquation(t *testing.T) {
	for _, c := range []struct {
		m, n uint64
		k    int
		want float64
	}{
		{16, 4, 2, .165989378016},
		{32, 8, 3, .15574078509},
		{64, 8, 5, .0234160874769},
		{64, 16, 3, .151271932102},
		{128, 20, 4, .04788671921},
		{256, 32, 5, .022107004794},
		{1000, 100, 7, .00826624751484},
		{8192, 1000, 5, .0199108695604},
	} {
		if got := FPRateExact(c.m, c.k, c.n); !near(got, c.want, 1e-11) {
			t.Errorf("m=%d n=%d k=%d: %.12g, want %.12g", c.m, c.n, c.k, got, c.want)
		}
	}
}

// The formula that takes cells to be independent is low, most so in small filters.
func TestBoseFormulaIsLow(t *testing.T) {
	if got := FPRate(64, 4, 8); !near(got, .02455621643, 1e-9) {
		t.Errorf("FPRate = %.11g, want .02455621643", got)
	}
	if got := FPRateExact(64, 4, 8); !near(got, .02535443462, 1e-9) {
		t.Errorf("FPRateExact = %.11g, want .02535443462", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 2000).Draw(t, "m")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		n := rapid.Uint64Range(0, 100).Draw(t, "n")
		exact, formula := FPRateExact(m, k, n), FPRate(m, k, n)
		if exact < formula*(1-1e-11) || exact > 1+1e-11 {
			t.Fatalf("exact %g, formula %g", exact, formula)
		}
		if k == 1 && !near(exact, formula, 1e-11) {
			t.Fatalf("with one cell per key both are the mean fill, got %g and %g", exact, formula)
		}
	})
}

// All ways to place two keys of two cells each and a question among three cells.
func TestBoseByEnumeration(t *testing.T) {
	const m, k, n = 3, 2, 2
	yes, all := 0, 0
	for code := range 3 * 3 * 3 * 3 * 3 * 3 {
		var cell [6]int
		for i := range cell {
			cell[i] = code % 3
			code /= 3
		}
		var set [3]bool
		for _, c := range cell[:k*n] {
			set[c] = true
		}
		if set[cell[4]] && set[cell[5]] {
			yes++
		}
		all++
	}
	if got, want := FPRateExact(m, k, n), float64(yes)/float64(all); !near(got, want, 1e-14) {
		t.Errorf("%.15g, want %d of %d = %.15g", got, yes, all, want)
	}
}

// The approximation above ExactLimit, tested where both can be had.
func TestFPRateExactSecondOrder(t *testing.T) {
	for _, c := range []struct {
		k, most int // the number of positions, rounded down to whole keys
		m       uint64
		within  float64
	}{
		{32, ExactLimit, 70_000, 2e-6},
		{7, ExactLimit / 8, 8000, 3e-7}, // the error goes with the inverse square of most
		{16, ExactLimit / 8, 8000, 6e-6},
		{16, ExactLimit / 8, 16_000, 6e-6},
		{16, ExactLimit / 8, 100_000, 6e-6},
	} {
		n := uint64(c.most / c.k)
		got := secondOrder(float64(c.m), float64(c.k), float64(c.k)*float64(n))
		if want := FPRateExact(c.m, c.k, n); !near(got, want, c.within) {
			t.Errorf("m=%d k=%d n=%d: %.12g, exact %.12g", c.m, c.k, n, got, want)
		}
	}
	const m, k = 100_000, 8
	below, above := FPRateExact(m, k, ExactLimit/k), FPRateExact(m, k, ExactLimit/k+1)
	if !near(below, above, 1e-3) || above <= below {
		t.Errorf("across the limit the rate goes from %.10g to %.10g", below, above)
	}
	if got := FPRateExact(64, 4, 1<<40); got != 1 {
		t.Errorf("full filter: %g, want 1", got)
	}
	if got, want := FPRateExact(1<<63, 4, 1<<62), FPRate(1<<63, 4, 1<<62); !near(got, want, 1e-12) {
		t.Errorf("2^63 cells: %g, want %g", got, want)
	}
}

func TestOccupiedVariance(t *testing.T) {
	// The moments of the chain.
	for _, c := range []struct {
		m uint64
		t int
	}{{2, 3}, {10, 1}, {10, 2}, {64, 40}, {1000, 1000}, {1000, 5000}, {100_000, 20}, {1_000_000, 200}} {
		m := float64(c.m)
		mean := overOccupancy(c.m, c.t, func(f float64) float64 { return f * m })
		want := overOccupancy(c.m, c.t, func(f float64) float64 { return (f*m - mean) * (f*m - mean) })
		if got := occupiedVariance(m, float64(c.t)); math.Abs(got-want) > 1e-7*want+1e-10 {
			t.Errorf("m=%d t=%d: variance %.10g, chain has %.10g", c.m, c.t, got, want)
		}
	}
	// The series and the closed form meet at a load of 1e-4.
	for _, m := range []float64{1e6, 1e9, 1e18} {
		low, high := occupiedVariance(m, 0.99999e-4*m), occupiedVariance(m, 1.00001e-4*m)
		if slope := high / low; !near(slope, 1.00004, 1e-5) {
			t.Errorf("m=%g: variance goes from %g to %g", m, low, high)
		}
	}
}
