package logarithm

import "testing"

// The logarithms of usual rates are those that are computed for others.
func TestUsual(t *testing.T) {
	for x := range usual {
		if got, want := Of(x), exact(x); got != want {
			t.Errorf("ln %v: %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0.03, 0.007} {
		if got, want := Of(x), exact(x); got != want {
			t.Errorf("ln %v: %v, want %v", x, got, want)
		}
	}
}

// TestLogarithm: logarithms equal those of a correctly rounding C library in the last bit. The
// values are from glibc 2.36.
func TestLogarithm(t *testing.T) {
	for x, want := range logarithms {
		if got := exact(x); got != want {
			t.Errorf("ln %v = %v, want %v", x, got, want)
		}
	}
}

var logarithms = map[float64]float64{
	0.25:               -1.3862943611198906,
	0.1:                -2.3025850929940455,
	0.05:               -2.995732273553991,
	0.02:               -3.912023005428146,
	0.01:               -4.605170185988091,
	0.0025:             -5.991464547107982,
	0.00125:            -6.684611727667927,
	0.000625:           -7.3777589082278725,
	0.0003125:          -8.070906088787817,
	0.00015625:         -8.764053269347762,
	7.8125e-05:         -9.457200449907708,
	0.005:              -5.298317366548036,
	0.001:              -6.907755278982137,
	0.0005:             -7.600902459542082,
	0.0001:             -9.210340371976182,
	1e-05:              -11.512925464970229,
	1e-06:              -13.815510557964274,
	1e-09:              -20.72326583694641,
	0.3:                -1.2039728043259361,
	0.95:               -0.05129329438755058,
	0.99:               -0.01005033585350145,
	0.9999999999999999: -1.1102230246251565e-16,
	5e-324:             -744.4400719213812,
	0x1p-1022:          -708.3964185322641,
	5e-301:             -691.4686750787737,
}
