package window

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// TestShtulRecursion compares the rate with a count of all ways in which slices can match.
func TestShtulRecursion(t *testing.T) {
	r := fixture.Rand(1)
	for k := 1; k <= 6; k++ {
		for slices := range 12 {
			fills := make([]float64, slices)
			for i := range fills {
				fills[i] = r.Float64()
			}
			want := 0.0
			for set := range 1 << slices {
				p, run, longest := 1.0, 0, 0
				for i, fill := range fills {
					if set>>i&1 == 1 {
						p *= fill
						run++
						longest = max(longest, run)
					} else {
						p *= 1 - fill
						run = 0
					}
				}
				if longest >= k {
					want += p
				}
			}
			if got := fpRate(fills, k); math.Abs(got-want) > 1e-14 {
				t.Errorf("k=%d, %d slices: %.15f, want %.15f", k, slices, got, want)
			}
		}
	}
}

// TestShtulFills: with a load of ln 2, as the authors choose it, the fills rise to one half and
// stay.
func TestShtulFills(t *testing.T) {
	fills := make([]float64, 17)
	fillWindow(fills, 10, math.Ln2)
	for i, fill := range fills {
		want := 1 - math.Pow(2, -float64(min(i+1, 10))/10)
		if !fixture.Near(fill, want, 1e-12) {
			t.Errorf("slice %d: fill %g, want %g", i, fill, want)
		}
	}
	if got := fpRate(fills, 10); !fixture.Near(got, 0.0014735, 1e-4) {
		t.Errorf("k=10, l=7: rate %.7f, want 0.0014735", got)
	}
}

func TestWindowSize(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 1000, 1e6, 1 << 50} {
		for _, p := range []float64{0.99, 0.5, 0.1, 0.01, 0.001, 1e-9} {
			for _, atOnce := range []bool{false, true} {
				w, err := smallest(n, p, limits{MaxL: 64, MaxSlices: 256, AtOnce: atOnce})
				if err != nil {
					t.Fatalf("n=%d, p=%g: %v", n, p, err)
				}
				if got := w.rate(float64(w.Limit)); got > p*(1+1e-9) {
					t.Errorf("n=%d, p=%g: %+v has a rate of %g", n, p, w, got)
				}
				if once := w.rateAtOnce(n); atOnce && once > p*(1+1e-9) {
					t.Errorf("n=%d, p=%g: %+v has a rate of %g with all keys at once", n, p, w, once)
				}
				if w.Limit*uint64(w.L) < n {
					t.Errorf("n=%d, p=%g: %+v doesn't hold them", n, p, w)
				}
			}
		}
	}
}

// TestWindowSizeIsLeast: no other k and l in the limits take fewer cells.
func TestWindowSizeIsLeast(t *testing.T) {
	for _, p := range []float64{0.3, 0.02, 1e-4} {
		for _, atOnce := range []bool{false, true} {
			const n, most = 100_000, 24
			w, err := smallest(n, p, limits{MaxL: most, MaxSlices: 256, AtOnce: atOnce})
			if err != nil {
				t.Fatal(err)
			}
			for k := 1; k < 30; k++ {
				for l := 1; l <= most; l++ {
					v, err := smallest(n, p, limits{K: k, L: l, MaxSlices: 256, AtOnce: atOnce})
					if err != nil {
						t.Fatal(err)
					}
					if float64(v.bytes()) < 0.999*float64(w.bytes()) {
						t.Fatalf("p=%g: k=%d, l=%d take %d bytes, and k=%d, l=%d were found with %d", p, k, l, v.bytes(), w.K, w.L, w.bytes())
					}
				}
			}
		}
	}
}

func TestWindowRefuses(t *testing.T) {
	usual := limits{MaxL: 64, MaxSlices: 256, AtOnce: true}
	for what, c := range map[string]struct {
		n      uint64
		p      float64
		limits limits
	}{
		"no keys":          {0, 0.1, usual},
		"a rate of one":    {10, 1, usual},
		"no rate":          {10, math.NaN(), usual},
		"k below zero":     {10, 0.1, limits{K: -1, L: 3, MaxSlices: 256}},
		"l below zero":     {10, 0.1, limits{K: 3, L: -1, MaxSlices: 256}},
		"too many slices":  {10, 0.1, limits{K: 3, L: 3, MaxSlices: 5}},
		"no room for an l": {10, 0.1, limits{MaxL: 3, MaxSlices: 1}},
		"too many keys":    {math.MaxUint64, 1e-9, usual},
		"too rare":         {10, 1e-300, usual},
	} {
		if w, err := smallest(c.n, c.p, c.limits); !errors.Is(err, plan.ErrRange) {
			t.Errorf("%s: %+v, %v, want an error that wraps %q", what, w, err, plan.ErrRange)
		}
	}
}

func BenchmarkWindowSize(b *testing.B) {
	for b.Loop() {
		if _, err := smallest(1e6, 1e-3, limits{MaxL: 64, MaxSlices: 256, AtOnce: true}); err != nil {
			b.Fatal(err)
		}
	}
}
