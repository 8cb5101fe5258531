package almeida

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// Almeida et al. 2007, section 3: the layers of scalable filters, computed elsewhere.
func TestAlmeidaLayers(t *testing.T) {
	type layer struct {
		p                    float64
		k                    int
		slice, keys, half    uint64
		totalKeys, totalBits uint64
	}
	for _, c := range []struct {
		name           string
		f, r           float64
		growth, slice0 uint64
		want           []layer
		compound       []float64
	}{
		{"f=0.01 r=0.5", 0.01, 0.5, 2, 1000, []layer{
			{0.005, 8, 1000, 724, 692, 724, 8000},
			{0.0025, 9, 2000, 1442, 1385, 2166, 26000},
			{0.00125, 10, 4000, 2873, 2772, 5039, 66000},
			{0.000625, 11, 8000, 5728, 5544, 10767, 154000},
			{0.0003125, 12, 16000, 11426, 11090, 22193, 346000},
			{0.00015625, 13, 32000, 22799, 22180, 44992, 762000},
			{7.8125e-05, 14, 64000, 45509, 44361, 90501, 1658000},
			{3.90625e-05, 15, 128000, 90864, 88722, 181365, 3578000},
		}, []float64{.005, .0074875, .0087281, .0093477}},
		{"f=0.1 r=0.5", 0.1, 0.5, 2, 128, []layer{
			{0.05, 5, 128, 101, 88, 101, 640},
			{0.025, 6, 256, 198, 177, 299, 2176},
			{0.0125, 7, 512, 391, 354, 690, 5760},
			{0.00625, 8, 1024, 773, 709, 1463, 13952},
			{0.003125, 9, 2048, 1532, 1419, 2995, 32384},
			{0.0015625, 10, 4096, 3040, 2838, 6035, 73344},
		}, nil},
		{"f=0.001 r=0.85", 0.001, 0.85, 2, 1000, []layer{
			{0.00015, 13, 1000, 708, 692, 708, 13000},
			{0.0001275, 13, 2000, 1392, 1385, 2100, 39000},
			{0.000108375, 14, 4000, 2943, 2772, 5043, 95000},
			{9.211875e-05, 14, 8000, 5787, 5544, 10830, 207000},
			{7.83009375e-05, 14, 16000, 11379, 11090, 22209, 431000},
			{6.6555796875e-05, 14, 32000, 22379, 22180, 44588, 879000},
			{5.65724273437e-05, 15, 64000, 47107, 44361, 91695, 1839000},
		}, nil},
	} {
		p0, err := FirstRate(c.f, c.r)
		if err != nil {
			t.Fatal(err)
		}
		var keys, bits uint64
		var rates []float64
		for i, want := range c.want {
			l, err := LayerAt(i, p0, c.r, c.growth, c.slice0)
			if err != nil {
				t.Fatalf("%s, layer %d: %v", c.name, i, err)
			}
			keys, bits, rates = keys+l.Capacity, bits+l.Cells(), append(rates, l.FPRate)
			if !fixture.Near(l.FPRate, want.p, 1e-10) {
				t.Errorf("%s, layer %d: rate %g, want %g", c.name, i, l.FPRate, want.p)
			}
			if got := (layer{want.p, l.K, l.Slice, l.Capacity, l.HalfFull, keys, bits}); got != want {
				t.Errorf("%s, layer %d: %+v, want %+v", c.name, i, got, want)
			}
			if i < len(c.compound) && !fixture.Near(plan.CompoundFPRate(rates...), c.compound[i], 1e-5) {
				t.Errorf("%s, compound of %d layers: %.8f, want %.8f", c.name, i+1, plan.CompoundFPRate(rates...), c.compound[i])
			}
		}
		if p := plan.CompoundFPRate(rates...); p > c.f {
			t.Errorf("%s: compound rate %g, want at most %g", c.name, p, c.f)
		}
	}
	rates := make([]float64, 8)
	for i := range rates {
		rates[i] = 0.005 / float64(uint(1)<<i)
	}
	if got := plan.CompoundFPRate(rates...); !fixture.Near(got, .009928, 1e-4) {
		t.Errorf("compound of eight layers: %.7f, want .009928", got)
	}
}

// Almeida et al. 2007, section 3: the compound rate stays below P_0/(1-r), for any
// number of layers.
func TestAlmeidaCompoundIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(1e-9, 0.999).Draw(t, "f")
		r := rapid.Float64Range(0.01, 0.99).Draw(t, "r")
		p0, err := FirstRate(f, r)
		if err != nil {
			t.Fatal(err)
		}
		var rates []float64
		for i := range rapid.IntRange(1, 50).Draw(t, "layers") {
			l, err := LayerAt(i, p0, r, 2, 64)
			if err != nil {
				break
			}
			rates = append(rates, l.FPRate)
			if half := math.Pow(0.5, float64(l.K)); half > l.FPRate*(1+1e-9) {
				t.Fatalf("layer %d half full: %g, want at most %g", i, half, l.FPRate)
			}
			if l.HalfFull > l.Capacity+1 {
				t.Fatalf("layer %d is half full with %d keys, beyond its capacity of %d", i, l.HalfFull, l.Capacity)
			}
		}
		if p := plan.CompoundFPRate(rates...); p > f*(1+1e-9) {
			t.Fatalf("compound rate of %d layers %g, want at most %g", len(rates), p, f)
		}
	})
}

// TestAlmeidaFirstKNeedsACeiling: rounding k_0 down has the cost that the doc comment states.
func TestAlmeidaFirstKNeedsACeiling(t *testing.T) {
	down := partitioned.Shape{M: 7000, K: 7}
	if at, above := down.Forecast(632).FPRate, down.Forecast(633).FPRate; at > 0.005 || above <= 0.005 {
		t.Errorf("slices of 1000, k=7: rates %g and %g, want 0.005 between 632 and 633 keys", at, above)
	}
}

func TestScalableRefuses(t *testing.T) {
	for _, c := range []struct {
		i      int
		p0, r  float64
		growth uint64
		slice0 uint64
	}{
		{0, 0, 0.5, 2, 64}, {0, 1, 0.5, 2, 64}, {0, math.NaN(), 0.5, 2, 64},
		{0, 0.1, 0, 2, 64}, {0, 0.1, 1, 2, 64}, {0, 0.1, math.NaN(), 2, 64},
		{-1, 0.1, 0.5, 2, 64}, {0, 0.1, 0.5, 0, 64}, {0, 0.1, 0.5, 2, 0},
		{70, 0.1, 0.5, 2, 64}, {3, 0.1, 0.5, 2, 1 << 60}, {math.MaxInt, 0.1, 0.5, 1, 64},
	} {
		if l, err := LayerAt(c.i, c.p0, c.r, c.growth, c.slice0); !errors.Is(err, plan.ErrRange) {
			t.Errorf("%+v: %+v, %v, want an error that wraps %q", c, l, err, plan.ErrRange)
		}
	}
	for _, c := range [][2]float64{{0, .5}, {1, .5}, {.1, 0}, {.1, 1}} {
		if _, err := FirstRate(c[0], c[1]); !errors.Is(err, plan.ErrRange) {
			t.Errorf("p=%g r=%g: %v, want an error that wraps %q", c[0], c[1], err, plan.ErrRange)
		}
	}
}
