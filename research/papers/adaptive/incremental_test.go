package adaptive

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestMean: mean sizes for 1 to 200 equally likely numbers of keys, with the ends of
// the arrays.
func TestMean(t *testing.T) {
	for _, c := range []struct {
		p, mean float64
		ends    []uint64
	}{
		{0.2, 676, []uint64{200}},
		{0.1, 929.92, []uint64{102, 200}},
		{0.05, 1133.39, []uint64{66, 132, 200}},
		{0.01, 1554, []uint64{40, 80, 120, 160, 200}},
		{0.001, 2108.03, []uint64{26, 52, 78, 104, 130, 153, 176, 200}},
	} {
		planes, mean, err := divide(200, c.p, 0, 64, 256)
		if err != nil {
			t.Fatal(err)
		}
		var ends []uint64
		end := uint64(0)
		for _, p := range planes {
			end += p.Keys
			ends = append(ends, end)
		}
		if !fixture.Near(mean, c.mean, 1e-5) || !slices.Equal(ends, c.ends) {
			t.Errorf("p=%g: mean %.6g of planes that end at %d, want %.6g and %d", c.p, mean, ends, c.mean, c.ends)
		}
	}
}

// TestDivisionIsLeast: no other division of a few keys among arrays has a smaller mean.
func TestDivisionIsLeast(t *testing.T) {
	const n, p = 24, 0.03
	for planes := 1; planes <= 3; planes++ {
		_, got, err := divide(n, p, planes, 64, 256)
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		var split func(left, after uint64, sum float64, planes int)
		split = func(left, after uint64, sum float64, more int) {
			for keys := uint64(1); keys <= left; keys++ {
				each := layerRate(p, planes)
				m := leastSize(keys, each)
				next := sum + float64(m)*float64(n-after)/n
				if more == 1 && keys == left {
					least = min(least, next)
				} else if more > 1 {
					split(left-keys, after+keys, next, more-1)
				}
			}
		}
		split(n, 0, 0, planes)
		if !fixture.Near(got, least, 1e-12) {
			t.Errorf("%d planes: mean %.6g, the least is %.6g", planes, got, least)
		}
	}
}

func TestDivisionMeetsRate(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 201, 5000, 12345678} {
		for _, p := range []float64{0.5, 0.01, 1e-9} {
			planes, _, err := divide(n, p, 0, 64, 256)
			if err != nil {
				t.Fatal(err)
			}
			no, keys := 1.0, uint64(0)
			for _, x := range planes {
				no *= 1 - rateOf(x.M, x.K, x.Keys)
				keys += x.Keys
			}
			if keys != n || 1-no > p*(1+1e-6) {
				t.Errorf("n=%d, p=%g: %d keys at a rate of %g", n, p, keys, 1-no)
			}
		}
	}
}

func TestDivideRefuses(t *testing.T) {
	for what, f := range map[string]func() error{
		"no keys":                func() error { _, _, err := divide(0, 0.1, 0, 64, 256); return err },
		"a rate of one":          func() error { _, _, err := divide(10, 1, 0, 64, 256); return err },
		"no rate":                func() error { _, _, err := divide(10, math.NaN(), 0, 64, 256); return err },
		"more planes than keys":  func() error { _, _, err := divide(10, 0.1, 11, 64, 256); return err },
		"planes below zero":      func() error { _, _, err := divide(10, 0.1, -1, 64, 256); return err },
		"no cells per key":       func() error { _, _, err := divide(10, 0.1, 0, 64, 0); return err },
		"more cells than can be": func() error { _, _, err := divide(1<<62, 0.001, 0, 64, 256); return err },
	} {
		if err := f(); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error that wraps %q", what, err, umbel.ErrGoal)
		}
	}
}

// rateOf returns the rate of a Bloom filter by the formula for independent cells.
func rateOf(m uint64, k int, n uint64) float64 {
	return math.Pow(-math.Expm1(float64(n)*float64(k)*math.Log1p(-1/float64(m))), float64(k))
}

// leastSize returns the least number of cells with a rate of at most p for n keys, by trying all.
func leastSize(n uint64, p float64) uint64 {
	for m := uint64(1); ; m++ {
		for k := range 64 {
			if rateOf(m, k+1, n) <= p {
				return m
			}
		}
	}
}

// TestDivisionsOfPlatforms: amd64 and arm64 divide the same. The latter fuses multiplications and additions,
// which changes the last bits of sums.
func TestDivisionsOfPlatforms(t *testing.T) {
	h := fnv.New64a()
	for _, n := range []uint64{1, 2, 5, 13, 21, 34, 58, 89, 150} {
		for _, p := range []float64{0.95, 0.9, 0.884, 0.5, 0.2, 0.03, 0.01, 1e-3, 1e-6} {
			layers, _, err := divide(n, p, 0, 64, 256)
			fmt.Fprintln(h, n, p, layers, err)
		}
	}
	const want = 0x9a9458ea64ab8b48
	if got := h.Sum64(); got != want {
		t.Errorf("the divisions have the hash %#x, want %#x as on amd64", got, uint64(want))
	}
}
