package format

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A float is read as it was written, and decimal ones with few digits take few bytes.
func TestShortFloat(t *testing.T) {
	same := func(t rapid.TB, v float64) int {
		t.Helper()
		w := NewAppender(nil, nil)
		w.shortFloat(v)
		r := NewReader(w.Buf, 0, Budget{})
		got, err := r.shortFloat()
		if err != nil || math.Float64bits(got) != math.Float64bits(v) || r.Left() != 0 {
			t.Fatalf("%v: read %v of %d bytes, %d are left: %v", v, got, len(w.Buf), r.Left(), err)
		}
		return len(w.Buf)
	}
	for v, most := range map[float64]int{
		0: 1, 1: 1, 3: 1, 0.01: 1, 0.001: 1, 0.05: 2, 1e-6: 1, 2.5: 2, 1e15: 9, 0.123: 2,
		math.Copysign(0, -1): 9, -1: 9, 1e300: 9, 5e-324: 9, math.MaxFloat64: 9, 1e-22: 1, 1e-23: 9, 1.0 / 3: 9, 1 << 53: 9, 1<<53 - 1: 9,
	} {
		if n := same(t, v); n > most {
			t.Errorf("%v takes %d bytes, want at most %d", v, n, most)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.Float64().Filter(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }).Draw(t, "any"))
		n, e := rapid.Uint64Range(0, maxDigits-1).Draw(t, "n"), rapid.Uint64Range(0, maxExponent).Draw(t, "e")
		if same(t, float(n, e)) > 9 {
			t.Fatalf("%d/10^%d takes more than 9 bytes", n, e)
		}
	})
}
