package imported

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/internal/sentinel"
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

// Strategies of Guava, the first byte of its files.
const (
	strategy32 = 0
	strategy64 = 1
)

// ParseGuava returns the filter that BloomFilter.writeTo of Guava wrote, within all of b, which it copies. Its keys are
// bytes, strings in UTF-8 and integers of 64 bits, as those of the funnels byteArrayFunnel, stringFunnel(UTF_8) and
// longFunnel. It returns an error wrapping umbel.ErrCorrupt unless b is the whole file of a filter. It allocates no more than b is
// long.
//
// The file, big-endian: the strategy 1 | k 1 | number of words 4 | words of 64 bits, bit i in word i/64.
func ParseGuava(b []byte) (*Filter, error) {
	const header = 6
	if len(b) < header || b[0] > strategy64 {
		return nil, corrupt("guava: the file begins with %x, want a strategy, 00 or 01, and 5 more bytes", b[:min(len(b), header)])
	}
	s := Shape{Form: Guava32, K: int(b[1]), M: uint64(binary.BigEndian.Uint32(b[2:])) * 64}
	if b[0] == strategy64 {
		s.Form = Guava64
	}
	s.Hasher = s.Form.hasher()
	return fromWords(s, b[header:], binary.BigEndian)
}

// ParseSpark returns the filter that BloomFilter.writeTo of Spark wrote, version 1 or 2, within all of b, which it
// copies. Its keys are bytes, strings and integers of 64 bits. It returns an error wrapping umbel.ErrCorrupt unless b is
// the whole file of a filter. It allocates no more than b is long.
//
// The file, big-endian: the version 4 | k 4 | in version 2 a seed 4 | number of words 4 | words of 64 bits, bit i in word
// i/64.
func ParseSpark(b []byte) (*Filter, error) {
	be := binary.BigEndian
	if len(b) < 12 || be.Uint32(b) != 1 && be.Uint32(b) != 2 || be.Uint32(b) == 2 && len(b) < 16 {
		return nil, corrupt("spark: the file of %d bytes begins with %x, want version 1 or 2 and a header of 12 or 16 bytes", len(b), b[:min(len(b), 4)])
	}
	s := Shape{Form: Spark1, K: int(min(be.Uint32(b[4:]), maxK+1)), Hasher: Spark1.hasher()}
	rest := b[8:]
	if be.Uint32(b) == 2 {
		var seed [16]byte
		binary.LittleEndian.PutUint32(seed[:], be.Uint32(rest))
		s.Form, s.Hasher.Seed, rest = Spark2, umbel.SeedFrom(seed), rest[4:]
	}
	s.M = uint64(be.Uint32(rest)) * 64
	return fromWords(s, rest[4:], be)
}

const (
	blobloomMagic  = "blobloom"
	blobloomHeader = 64
	commentBytes   = 44
)

// ParseBlobloom returns the filter that Dump of greatroar/blobloom wrote, and its comment, from all of b, which it copies.
// Its program hashed the keys to 64 bits itself. h is umbel.XXH64 if it did so by xxhash, and umbel.Caller for any other hash,
// also that of 64 bits of XXH3; digests are then those of [umbel.DigestFromHash64]. With the wrong one of these, keys are not
// found. ParseBlobloom returns an error wrapping umbel.ErrGoal for another hasher, and umbel.ErrCorrupt unless b is the whole file
// of a filter. It allocates no more than b is long.
//
// The file, little-endian: "blobloom" 8 | version 0 4 | number of blocks less one 4 | k 4 | comment 44, padded with
// zeros | blocks of 64 bytes, bit i of a block in its byte i/8.
func ParseBlobloom(b []byte, h umbel.Hasher) (f *Filter, comment string, err error) {
	if h.Alg != umbel.XXH64 && h.Alg != umbel.Caller {
		return nil, "", sentinel.Errorf(umbel.ErrGoal,
			"imported: blobloom's program hashed the keys itself: give umbel.XXH64 or umbel.Caller as the hasher, not %v", h.Alg)
	}
	le := binary.LittleEndian
	if len(b) < blobloomHeader || string(b[:8]) != blobloomMagic || le.Uint32(b[8:]) != 0 {
		return nil, "", corrupt("blobloom: the file of %d bytes begins with %q, want %q, version 0 and a header of 64 bytes",
			len(b), b[:min(len(b), 8)], blobloomMagic)
	}
	text, padding, _ := bytes.Cut(b[20:blobloomHeader], []byte{0})
	if len(bytes.Trim(padding, "\x00")) > 0 {
		return nil, "", corrupt("blobloom: the comment contains a zero byte")
	}
	s := Shape{Form: Blobloom, K: int(min(le.Uint32(b[16:]), maxK+1)), M: (uint64(le.Uint32(b[12:])) + 1) * blockBits, Hasher: h}
	f, err = fromWords(s, b[blobloomHeader:], le)
	return f, string(text), err
}
