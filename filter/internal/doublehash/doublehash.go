// Package doublehash has the arithmetic of filters with plain double hashing: position i of a digest in m
// bits is (H1 + i·H2 mod 2^64) mod m. Kinds that other programs defined have it: redisbloom and nixbloom.
package doublehash

import (
	"math"
	"math/bits"
)

// Scale returns the factor with which Position computes remainders by m: 2^64/m, rounded down, or one less.
func Scale(m uint64) uint64 { return math.MaxUint64 / m }

// Position returns v mod m, where scale is Scale(m). The product with scale is the quotient or one less, and
// is several times faster than a division.
func Position(v, m, scale uint64) uint64 {
	q, _ := bits.Mul64(v, scale)
	r := v - q*m
	_, less := bits.Sub64(r, m, 0)
	return r - m&(less-1)
}
