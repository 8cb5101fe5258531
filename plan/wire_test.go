package plan_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/plan"
)

// Mitzenmacher 2002, tables I and II: size per key after compression, in bits.
func TestMitzenmacherTables(t *testing.T) {
	const n = 1_000_000 // the tables are of the limit
	for _, c := range []struct {
		perKey float64
		k      int
		want   float64
	}{{14, 2, 7.92314}, {92, 1, 7.92313}, {28, 4, 15.84629}, {48, 3, 15.82898}, {7, 1, 3.96157}} {
		if got := plan.WireBits(uint64(c.perKey*n), c.k, n) / n; math.Abs(got-c.want) > 1e-5*c.want {
			t.Errorf("%g cells per key, k = %d: %.5f bits per key, want %.5f", c.perKey, c.k, got, c.want)
		}
	}
}

func TestWireBitsEnds(t *testing.T) {
	if got := plan.WireBits(36000, 2, 1000); math.Abs(got-10919) > 1 {
		t.Errorf("36000 cells with 1000 keys: %.1f bits, want 10919", got)
	}
	if got := plan.WireBits(1000, 3, 0); got != 0 {
		t.Errorf("no keys: %v bits, want 0", got)
	}
	if got := plan.WireBits(64, 8, 1<<40); got != 0 {
		t.Errorf("full: %v bits, want 0", got)
	}
	if got := plan.WireBits(1000, 1, 693); !(got > 999 && got <= 1000) {
		t.Errorf("half full: %v bits, want about 1000", got)
	}
}
