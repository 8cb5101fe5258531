package plan

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestMitzenmacherFigures recomputes Mitzenmacher 2002, Figures 1 and 2, which print no numbers.
func TestMitzenmacherFigures(t *testing.T) {
	for _, c := range []struct{ z, k, perKey, p, plain float64 }{
		{8, 0.5, 12057.446, 0.0064395103, 0.24614414},
		{8, 1, 96.914657, 0.010265305, 0.1175031},
		{8, 1.5, 24.893244, 0.014141195, 0.070694109},
		{8, 2, 14.336565, 0.016954634, 0.048929094},
		{8, 2.5, 10.964554, 0.018769186, 0.037315826},
		{8, 3, 9.4910038, 0.019903676, 0.030579354},
		{8, 4, 8.3455776, 0.02102324, 0.023968651},
		{8, 5, 8.0309905, 0.021379426, 0.021679217},
		{8, 5.5451774, 8, 0.021415847, 0.021415847},
		{8, 6, 8.0167377, 0.021396145, 0.021577141},
		{8, 7, 8.1392533, 0.021254111, 0.022929749},
		{8, 8, 8.3329241, 0.021037109, 0.025491731},
		{8, 9, 8.5668177, 0.020786583, 0.029224417},
		{8, 10, 8.8246734, 0.020523962, 0.034190903},
		{8, 12, 9.3789845, 0.020002547, 0.048325809},
		{16, 0.5, 7.900155e+08, 2.5157483e-05, 0.17540458},
		{16, 1, 24114.892, 4.1467293e-05, 0.060586937},
		{16, 2, 193.82931, 0.00010537649, 0.013806978},
		{16, 3, 49.786489, 0.00019997341, 0.0049976571},
		{16, 4, 28.67313, 0.00028745961, 0.0023940562},
		{16, 5, 21.929108, 0.00035228236, 0.0013924708},
		{16, 6, 18.982008, 0.00039615631, 0.00093509692},
		{16, 8, 16.691155, 0.00044197662, 0.00057449622},
		{16, 10, 16.061981, 0.00045707984, 0.00046998845},
		{16, 11, 16.000372, 0.00045862911, 0.00045871073},
		{16, 11.090355, 16, 0.00045863851, 0.00045863851},
		{16, 12, 16.033475, 0.00045779504, 0.00046557303},
		{16, 14, 16.278507, 0.00045173726, 0.00052577338},
		{16, 16, 16.665848, 0.00044255996, 0.00064982834},
	} {
		got := CompressionCurve(c.z, []float64{c.k})[0]
		if !fixture.Near(got.CellsPerKey, c.perKey, 1e-6) || !fixture.Near(got.FPRate, c.p, 1e-6) || !fixture.Near(got.PlainFPRate, c.plain, 1e-6) || got.K != c.k || got.BitsPerKey != c.z {
			t.Errorf("z/n=%g, k=%g: got %+v, want m/n=%g, rates %g and %g", c.z, c.k, got, c.perKey, c.p, c.plain)
		}
	}
}

// TestCurveEnds: Mitzenmacher 2002, section II-B: the compressed rate is worst at the k that is
// best without compression, and tends to (1/2)^(z/n).
func TestCurveEnds(t *testing.T) {
	const z = 8.0
	worst := CompressionCurve(z, []float64{z * math.Ln2})[0].FPRate
	for _, k := range []float64{1e-3, .01, .1, 1, 5, 5.5, 5.6, 6, 10, 100, 1000} {
		p := CompressionCurve(z, []float64{k})[0].FPRate
		if limit := math.Exp2(-z); !(p < worst && p > limit*(1-1e-9)) {
			t.Errorf("k=%g: rate %g, want between %g and %g", k, p, limit, worst)
		}
	}
	if p := CompressionCurve(z, []float64{1e-2})[0].FPRate; !fixture.Near(p, math.Exp2(-z), .02) {
		t.Errorf("k=.01: rate %g, want nearly %g", p, math.Exp2(-z))
	}
	fixture.WantPanic(t, "k=0", func() { CompressionCurve(8, []float64{0}) })
	fixture.WantPanic(t, "no bits", func() { CompressionCurve(0, []float64{1}) })
}
