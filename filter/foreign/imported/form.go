package imported

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
)

// Form is the way in which a library derives positions from a hash, and its file format. Numbers never change their
// meaning.
type Form uint8

const (
	// Guava64 is the strategy MURMUR128_MITZ_64 of Guava, its default from version 15 on: the remainder by m of the
	// lower 63 bits of H1 + i·H2, i from 0 on.
	Guava64 Form = 1 + iota
	// Guava32 is the strategy MURMUR128_MITZ_32 of Guava, for filters made before version 15: with the two halves a and
	// b of H1, the remainder by m of a + i·b in 32 bits, i from 1 on, inverted if negative.
	Guava32
	// Spark1 is version 1 of Spark's filters: as Guava32, with the upper half of H1 first.
	Spark1
	// Spark2 is version 2 of Spark's filters: with the halves a and b of H1, the remainder by m of
	// a·(2^31-1) + i·b in 64 bits, i from 1 on, inverted if negative.
	Spark2
	// Blobloom is greatroar/blobloom: the lower half of H1 chooses a block of 512 bits, and enhanced double hashing
	// (Dillinger and Manolios 2004) of both halves k-1 bits in it.
	Blobloom

	forms = iota + 1
)

var formNames = [forms]string{Guava64: "guava64", Guava32: "guava32", Spark1: "spark1", Spark2: "spark2", Blobloom: "blobloom"}

// String returns the name of the form.
func (x Form) String() string {
	if x > 0 && x < forms {
		return formNames[x]
	}
	return fmt.Sprintf("form(%d)", uint8(x))
}

// blockBits is the number of bits of a block of form Blobloom.
const blockBits = 512

// unit returns the number of bits that divides the size of a filter.
func (x Form) unit() uint64 {
	if x == Blobloom {
		return blockBits
	}
	return 64
}

// perKey returns the number of bits that are set per key.
func (x Form) perKey(k int) int {
	if x == Blobloom {
		return k - 1
	}
	return k
}

// reach returns the number of bits of m that positions reach: hashes of 31 bits cannot reach more.
func (x Form) reach(m uint64) uint64 {
	if x == Guava32 || x == Spark1 {
		return min(m, 1<<31)
	}
	return m
}

// walk visits the positions of a digest.
type walk struct {
	v, step uint64 // the next value, and its distance to the one after
	block   uint64 // first bit of the block of form Blobloom
	i       uint32 // what that form adds to step
}

// start returns the walk of d.
func (f *Filter) start(d umbel.Digest) walk {
	low, high := uint32(d.H1), uint32(d.H1>>32)
	switch f.form {
	case Guava64:
		return walk{v: d.H1, step: d.H2}
	case Guava32:
		return walk{v: uint64(low + high), step: uint64(high)}
	case Spark1:
		return walk{v: uint64(high + low), step: uint64(low)}
	case Spark2:
		b := int64(int32(low))
		return walk{v: uint64(int64(int32(high))*math.MaxInt32 + b), step: uint64(b)}
	default:
		block := uint64(low) * (f.bits.Len / blockBits) >> 32
		return walk{v: uint64(high + low), step: uint64(low + 1), block: block * blockBits, i: 1}
	}
}

// next returns the position that w has reached, and advances w.
func (f *Filter) next(w *walk) uint64 {
	v := w.v
	w.v += w.step
	switch f.form {
	case Guava64:
		v &= math.MaxInt64
	case Guava32, Spark1:
		x := int32(v)
		v = uint64(x ^ x>>31)
	case Spark2:
		x := int64(v)
		v = uint64(x ^ x>>63)
	default:
		w.i++
		w.step += uint64(w.i)
		return w.block + v%blockBits
	}
	return doublehash.Position(v, f.bits.Len, f.scale)
}
