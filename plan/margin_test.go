package plan

import (
	"math"
	"testing"
)

func TestSigmas(t *testing.T) {
	for _, c := range []struct{ tail, want float64 }{
		{.5, 0}, {.15865525393145707, 1}, {.02275013194817921, 2}, {1e-6, 4.753424308822899}, {1e-20, 9.262340089798408}, {1 - .15865525393145707, -1},
	} {
		if got := NormalQuantile(c.tail); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g: %.12f, want %.12f", c.tail, got, c.want)
		}
	}
	for _, tail := range []float64{0, 1, -1, math.NaN()} {
		wantPanic(t, "tail", func() { NormalQuantile(tail) })
	}
}
