package scaled

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel/plan"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// Capacities, sizes and compound rates agree with another program.
func TestLayers(t *testing.T) {
	for _, c := range []struct {
		design
		k              int // of the first layer
		capacity, bits []uint64
		compound       []float64
	}{
		{design{0.01, 0.5, 2, 1000}, 8, []uint64{724, 1442, 2873, 5728, 11426, 22799, 45509, 90864},
			[]uint64{8000, 26000, 66000, 154000, 346000, 762000, 1658000, 3578000},
			[]float64{0.005, 0.0074875, 0.0087281, 0.0093477, 0.0096573, 0.009812, 0.0098894, 0.009928}},
		{design{0.1, 0.5, 2, 128}, 5, []uint64{101, 198, 391, 773, 1532, 3040},
			[]uint64{640, 2176, 5760, 13952, 32384, 73344},
			[]float64{0.05, 0.07375, 0.085328, 0.091045, 0.093885, 0.095301}},
		{design{0.001, 0.85, 2, 1000}, 13, []uint64{708, 1392, 2943, 5787, 11379, 22379, 47107},
			[]uint64{13000, 39000, 95000, 207000, 431000, 879000, 1839000},
			[]float64{0.00015, 0.00027748, 0.00038583, 0.00047791, 0.00055617, 0.00062269, 0.00067923}},
	} {
		t.Run(c.design.String(), func(t *testing.T) {
			ls, err := c.first(len(c.capacity))
			if err != nil {
				t.Fatal(err)
			}
			if ls[0].K != c.k {
				t.Errorf("k is %d, want %d", ls[0].K, c.k)
			}
			var bits uint64
			var rates []float64
			for i, l := range ls {
				bits, rates = bits+l.Cells(), append(rates, l.FPRate)
				if compound := plan.CompoundFPRate(rates...); l.Capacity != c.capacity[i] || bits != c.bits[i] || !near(compound, c.compound[i], 2e-5) {
					t.Errorf("layer %d: capacity %d, %d bits, rate %.6g, want %d, %d, %g", i, l.Capacity, bits, compound, c.capacity[i], c.bits[i], c.compound[i])
				}
			}
		})
	}
}

// Averages over three decades agree with another program that uses other steps and
// fractional cells per key in the single filter.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		design
		want float64
	}{
		{design{0.1, 0.5, 2, 1000}, 3.7276}, {design{0.1, 0.8, 2, 1000}, 3.1459},
		{design{0.01, 0.5, 2, 1000}, 2.6191}, {design{0.01, 0.85, 2, 1000}, 2.3490}, {design{0.01, 0.5, 4, 1000}, 3.5182},
		{design{0.001, 0.8, 2, 1000}, 2.0699}, {design{0.001, 0.8, 4, 1000}, 2.9811},
	} {
		t.Run(c.design.String(), func(t *testing.T) {
			if got, err := c.cost(400); err != nil || !near(got, c.want, 0.015) {
				t.Errorf("%.4f, %v, want %.4f", got, err, c.want)
			}
		})
	}
}

// Exact rates agree with another program that uses an alternating sum.
func TestSmall(t *testing.T) {
	want := map[string]float64{
		"16 4 2": 0.165989378016, "32 8 3": 0.15574078509, "64 8 4": 0.02535443462, "64 8 5": 0.0234160874769, "64 16 3": 0.151271932102,
		"128 20 4": 0.04788671921, "256 32 5": 0.022107004794, "1000 100 7": 0.00826624751484, "8192 1000 5": 0.0199108695604,
	}
	for _, c := range smallFilters {
		w := want[fmt.Sprint(c.m, c.n, c.k)]
		if got := (plan.Filter{M: c.m, K: c.k}).FPRateExact(uint64(c.n)); !near(got, w, 1e-9) {
			t.Errorf("m=%d, n=%d, k=%d: %.12g, want %.12g", c.m, c.n, c.k, got, w)
		}
	}
}
