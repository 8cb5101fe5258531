package parquetfile

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// maxDecimal is the most bytes of a decimal in a BYTE_ARRAY that are queried, unless its precision needs more: the
// largest decimals that programs compute with have 256 bits.
const maxDecimal = 32

// maxPrecision is the most digits of a decimal.
const maxPrecision = 1000

// encodeDecimal returns the plain encodings of a decimal number: its digits as an integer, as INT32 or INT64, or in two's
// complement, most significant byte first. A BYTE_ARRAY should have the fewest bytes, and some writers pad it, or
// write zero without a byte; so it is encoded in every length. A number may have more digits than the precision, since
// writers don't check it.
func (v *valueType) encodeDecimal(s string) (encodings, error) {
	unscaled, err := parseDecimal(s, v.logical.scale)
	if err != nil {
		return encodings{}, err
	}
	least := (bitsOf(unscaled) + 7) / 8
	switch {
	case v.physical == physicalByteArray:
		var e encodings
		if unscaled.Sign() == 0 {
			e.all = append(e.all, nil)
		}
		for n := least; n <= max(least, maxDecimal, v.precisionBytes()); n++ {
			e.all = append(e.all, twosComplement(unscaled, n))
		}
		return e, nil
	case int64(least) > v.length:
		return encodings{}, fmt.Errorf("%q doesn't fit %d bytes", clip(s), v.length)
	case v.physical == physicalFixed:
		return encoding(twosComplement(unscaled, int(v.length))), nil
	}
	return v.encodeNumber(unscaled.Int64(), nil)
}

// precisionBytes returns the bytes of the largest number of the column's precision, in two's complement.
func (v *valueType) precisionBytes() int {
	digits := min(v.logical.precision, maxPrecision)
	return int(float64(digits)*math.Log2(10)+1)/8 + 1
}

// parseDecimal returns s times 10^scale, a whole number.
func parseDecimal(s string, scale int64) (*big.Int, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	notDigit := func(c rune) bool { return c < '0' || c > '9' }
	if whole+fraction == "" || len(s) > maxPrecision || strings.ContainsFunc(whole+fraction, notDigit) {
		return nil, fmt.Errorf("%q, want a decimal number like -12.50, of at most %d digits", clip(s), maxPrecision)
	}
	fraction = strings.TrimRight(fraction, "0")
	if int64(len(fraction)) > scale {
		return nil, fmt.Errorf("%q has %d digits after the point, want at most %d", clip(s), len(fraction), scale)
	}
	if scale > maxPrecision {
		return nil, fmt.Errorf("a scale of %d, want at most %d", scale, maxPrecision)
	}
	x, _ := new(big.Int).SetString("0"+whole+fraction+strings.Repeat("0", int(scale)-len(fraction)), 10)
	if negative {
		x.Neg(x)
	}
	return x, nil
}

// bitsOf returns the number of bits of x in two's complement, at least 1.
func bitsOf(x *big.Int) int {
	if x.Sign() < 0 {
		return new(big.Int).Not(x).BitLen() + 1
	}
	return x.BitLen() + 1
}

// twosComplement returns x in n bytes, which suffice.
func twosComplement(x *big.Int, n int) []byte {
	b := make([]byte, n)
	if x.Sign() >= 0 {
		return x.FillBytes(b)
	}
	new(big.Int).Not(x).FillBytes(b)
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}
