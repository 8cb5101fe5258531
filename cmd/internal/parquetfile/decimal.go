package parquetfile

import (
	"fmt"
	"math/big"
	"strings"
)

// encodeDecimal returns the plain encoding of a decimal number: its digits as an integer, as INT32
// or INT64, or in two's complement, most significant byte first, in the fixed length or in the
// fewest bytes.
func (v valueType) encodeDecimal(s string) ([]byte, error) {
	scale, precision := int(v.logical.scale), int(v.logical.precision)
	unscaled, err := parseDecimal(s, scale, precision)
	if err != nil {
		return nil, err
	}
	switch v.physical {
	case physicalInt32, physicalInt64:
		width := 64
		if v.physical == physicalInt32 {
			width = 32
		}
		if bitsOf(unscaled) > width {
			return nil, fmt.Errorf("%q doesn't fit %d bits", clip(s), width)
		}
		return v.encodeNumber(unscaled.Int64(), nil)
	case physicalFixed:
		if bitsOf(unscaled) > 8*v.length {
			return nil, fmt.Errorf("%q doesn't fit %d bytes", clip(s), v.length)
		}
		return twosComplement(unscaled, v.length), nil
	}
	return twosComplement(unscaled, (bitsOf(unscaled)+7)/8), nil
}

// parseDecimal returns s times 10^scale. It has at most precision digits.
func parseDecimal(s string, scale, precision int) (*big.Int, error) {
	const most = 1000 // digits
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	notDigit := func(c rune) bool { return c < '0' || c > '9' }
	if whole+fraction == "" || len(s) > most || strings.ContainsFunc(whole+fraction, notDigit) {
		return nil, fmt.Errorf("%q, want a decimal number like -12.50", clip(s))
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > scale {
		return nil, fmt.Errorf("%q has %d digits after the point, want at most %d", clip(s), len(fraction), scale)
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > precision-scale {
		return nil, fmt.Errorf("%q has %d digits before the point, want at most %d", clip(s), len(whole), precision-scale)
	}
	if scale > most {
		return nil, fmt.Errorf("a scale of %d, want at most %d", scale, most)
	}
	x, _ := new(big.Int).SetString("0"+whole+fraction+strings.Repeat("0", scale-len(fraction)), 10)
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
