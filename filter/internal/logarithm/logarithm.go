// Package logarithm computes natural logarithms that are equal on all platforms, for kinds whose sizes are
// those of another program.
package logarithm

import (
	"math"
	"math/big"
)

// Of returns ln x, correctly rounded, for x in (0, 1). math.Log may differ in the last place, for example
// for 0.01, and between platforms.
func Of(x float64) float64 {
	if y, ok := usual[x]; ok {
		return y
	}
	return exact(x)
}

// usual contains the logarithms of usual rates, and of half of them, since the first layer of a RedisBloom
// filter that scales has half its rate. A server makes many small filters, and computing the logarithm takes
// most of the time and allocates 3 kB.
var usual = map[float64]float64{
	0.1:     -2.3025850929940455,
	0.05:    -2.995732273553991,
	0.025:   -3.6888794541139363,
	0.02:    -3.912023005428146,
	0.01:    -4.605170185988091,
	0.005:   -5.298317366548036,
	0.0025:  -5.991464547107982,
	0.002:   -6.214608098422191,
	0.001:   -6.907755278982137,
	0.0005:  -7.600902459542082,
	0.00025: -8.294049640102028,
	0.0001:  -9.210340371976182,
	5e-05:   -9.903487552536127,
	1e-05:   -11.512925464970229,
	5e-06:   -12.206072645530174,
	1e-06:   -13.815510557964274,
	5e-07:   -14.508657738524219,
}

func exact(x float64) float64 {
	const precision = 160
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

	// One step of Newton's method: ln x = y + ln(x/e^y), and the last term is r - r²/2 with
	// r = x/e^y - 1, which is below 2^-40. (math.Log is wrong for the smallest numbers.)
	fraction, exponent := math.Frexp(x)
	y := math.Log(fraction) + float64(exponent)*math.Ln2
	r := number(x)
	r.Quo(r, exp(number(y))).Sub(r, number(1))
	half := number(0.5)
	half.Mul(half, r).Mul(half, r)
	r.Sub(r, half).Add(r, number(y))
	value, _ := r.Float64()
	return value
}

// exp returns e^y for |y| at most 1100: the series at y/2^16, squared 16 times.
func exp(y *big.Float) *big.Float {
	const halvings = 16
	y.SetMantExp(y, -halvings)
	sum := new(big.Float).SetPrec(y.Prec()).SetInt64(1)
	term := new(big.Float).Copy(sum)
	for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(y.Prec()); i++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}
