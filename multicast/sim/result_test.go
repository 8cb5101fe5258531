package sim

import (
	"math"
	"testing"
)

func TestStatistics(t *testing.T) {
	xs := []float64{4, 1, 3, 2}
	if got := mean(xs); got != 2.5 {
		t.Errorf("mean %g, want 2.5", got)
	}
	if got, want := standardError(xs), math.Sqrt(5.0/3/4); math.Abs(got-want) > 1e-15 {
		t.Errorf("standard error %g, want %g", got, want)
	}
	if got := standardError(xs[:1]); got != 0 {
		t.Errorf("standard error of one number %g, want 0", got)
	}
	for q, want := range map[float64]float64{0.25: 1, 0.5: 2, 0.51: 3, 0.95: 4, 1: 4} {
		if got := quantile(xs, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if xs[0] != 4 {
		t.Error("quantile sorted what it was given")
	}
}
