package plan

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// FPRate is the mean rate of independent positions, within 1.1 percent, however few keys and cells
// there are. Where the formula for independent cells is 2.3 percent low, it is within 0.15 percent.
func TestFPRateIsTheMean(t *testing.T) {
	check := func(t rapid.TB, m uint64, k int, n uint64) {
		t.Helper()
		got, want := Filter{m, k}.FPRate(n), Filter{m, k}.FPRateExact(n)
		within := 0.011
		if want > 1.023*FPRateAtFill(Filter{m, k}.Fill(n), k) {
			within = 0.0015
		}
		if math.Abs(got-want) > within*want {
			t.Fatalf("m=%d k=%d n=%d: %g, want %g: a relative error of %.2g", m, k, n, got, want, got/want-1)
		}
	}
	for n := range uint64(20) {
		for k := 1; k <= 66; k++ {
			for _, perDraw := range []float64{0.2, 0.5, 1, 1.5, 2, 3, 10} {
				check(t, uint64(math.Ceil(perDraw*float64(k)*float64(n+1))), k, n+1)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 150).Draw(t, "n")
		k := rapid.IntRange(1, 128).Draw(t, "k")
		m := 1 + uint64(float64(k)*float64(n)*math.Exp(rapid.Float64Range(-3, 6).Draw(t, "ln m/kn")))
		check(t, m, k, n)
	})
}
