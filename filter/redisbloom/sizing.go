package redisbloom

import (
	"fmt"
	"math"
	"math/big"

	"github.com/umbel-filters/umbel"
)

const (
	// MaxK is the largest number of bits per key: that of the least error rate there
	// is, 2^-1074.
	MaxK = 1074

	// RedisBloom's constants, digit for digit: its ln 2 and the square of it.
	ln2        = 0.693147180559945
	ln2Squared = 0.480453013918201

	// tightening is the ratio of the error rates of a layer and the one before it.
	tightening = 0.5

	maxBits = 1 << 56
)

// sizing is what a layer's capacity and error rate make of it.
type sizing struct {
	bits       uint64
	bitsPerKey float64 // a record; k and bits count
	k          int
}

// sizeFor returns RedisBloom's design of a layer: -ln(rate)/ln²2 bits per key,
// the bits of all keys rounded down and then up to whole words of 64, and ln 2 times
// the bits per key, rounded up, of them set per key. Its floating-point arithmetic is
// RedisBloom's, operation by operation, since bits and k follow from it; where a
// filter is sent, opened or loaded they are whole numbers. The error wraps
// umbel.ErrLimit.
func sizeFor(capacity uint64, rate float64) (sizing, error) {
	if rate <= 0 {
		return sizing{}, fmt.Errorf("redisbloom: the error rate of a layer is below 2^-1074: %w", umbel.ErrLimit)
	}
	perKey := -logarithm(rate) / ln2Squared
	all := float64(capacity) * perKey
	if all > maxBits {
		return sizing{}, fmt.Errorf("redisbloom: a layer for %d keys at %.3g takes %.3g bits, want at most 2^56: %w", capacity, rate, all, umbel.ErrLimit)
	}
	return sizing{
		bits:       (max(uint64(all), 1) + 63) / 64 * 64,
		bitsPerKey: perKey,
		k:          int(math.Ceil(ln2 * perKey)),
	}, nil
}

// logarithm returns ln x, correctly rounded, for x in (0, 1). That of package math
// may be off in the last place, as it is for 0.01, and RedisBloom's dump has it.
func logarithm(x float64) float64 {
	const precision = 160
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

	// One step of Newton's from the approximation: ln x = y + ln(x/e^y), and the last
	// is r - r²/2 with r = x/e^y - 1, which is below 2^-40. (The logarithm of package
	// math is wrong for the smallest numbers.)
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

// exp returns e^y for y of at most 1100 in size, by the series at y/2^16, squared 16
// times.
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
