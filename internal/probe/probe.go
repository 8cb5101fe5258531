// Package probe computes the positions of a key's cells from its digest, in two steps: the digest
// gives a [Stream] of 64-bit values, and [Reduce] maps a value to the range of cells. The stream
// doesn't depend on the number of cells, which makes folds exact.
//
// For r that divides m, Reduce(v, m/r) = ⌊Reduce(v, m)/r⌋. Cells that become one cell when the size
// is divided by r are therefore neighbors, and an array that is folded by cells.Array.Fold is equal
// to the array that is built at the smaller size.
//
// Nothing here is computed in floating point, so all machines agree.
package probe

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
)

// The odd constants by which the two factors of a stream advance. They are part of the
// specification of every kind that uses the stream.
const (
	step1 = 0x9e3779b97f4a7c15
	step2 = 0xd6e8feb86659fd93
)

// Stream is the sequence of 64-bit values of a digest. Value i is the exclusive or of both halves
// of the 128-bit product (H1 + i·step1)·(H2 + i·step2), with sums mod 2^64.
//
// Plain double hashing, H1 + i·H2, has 47 times too many false positives at 256 cells and 16 values
// (Kirsch and Mitzenmacher 2006 prove it harmless only as the size grows), and a stream with one
// moving factor has 1.5 times too many. With both factors moving the product is quadratic in i, and
// the measured rate is that of independent positions: TestStreamRates.
//
// Filters have the rate of independent values because their set cells are scattered. Consecutive
// values are not independent: six of them are all in the highest quarter four times too often
// (TestStreamInARow). Code that compares values with a threshold must mix them first, as package
// multicast/adaptive does.
type Stream struct{ x, y uint64 }

// Start returns the stream of d before its first value.
func Start(d umbel.Digest) Stream { return Stream{d.H1, d.H2} }

// Next returns the next value, and the stream after it. (By value: a stream behind a pointer would
// be in memory and take twice the time.)
func (s Stream) Next() (uint64, Stream) {
	hi, lo := bits.Mul64(s.x, s.y)
	return hi ^ lo, Stream{s.x + step1, s.y + step2}
}

// Skip returns the stream after the next n values.
func (s Stream) Skip(n uint64) Stream { return Stream{s.x + n*step1, s.y + n*step2} }

// Offset returns what to add to the two words of a digest, mod 2^64, so that its stream begins after
// the first n values: Start of the sum is Start(d).Skip(n). It saves multiplications if the same n
// values are skipped for many digests.
func Offset(n uint64) umbel.Digest { return umbel.Digest{H1: n * step1, H2: n * step2} }

// Reduce maps v to [0, m) by the high word of v·m: Lemire 2019. If values are uniform over all 64
// bits, the frequencies of positions differ by at most one part in 2^64/m.
func Reduce(v, m uint64) uint64 {
	hi, _ := bits.Mul64(v, m)
	return hi
}

// Mapping maps values to positions among Groups·2^Log cells, in groups of 2^Log: the high bits of a
// value choose the group, the low bits the cell in it.
type Mapping struct {
	Groups uint64
	Log    uint8 // below 64
}

// At returns the position of v, below Groups·2^Log.
func (m Mapping) At(v uint64) uint64 {
	return Reduce(v, m.Groups)<<(m.Log&63) | v&(1<<(m.Log&63)-1)
}

// Append appends the first k positions of d to dst.
func (m Mapping) Append(dst []uint64, d umbel.Digest, k int) []uint64 {
	s := Start(d)
	var v uint64
	for range k {
		v, s = s.Next()
		dst = append(dst, m.At(v))
	}
	return dst
}
