package nixbloom

import (
	"encoding/binary"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The file NixBloom, version 1. All numbers are little-endian words of 64 bits:
//
//	"NixBloom" 8 | version 8 | k 8 | m 8 | m/8 bytes of bits
//
// Cell i of the filter is bit i%8, from the lowest, of byte i/8 of the bits.

const (
	// HeaderBytes is the length of the header of a file.
	HeaderBytes = 32

	magic   = "NixBloom"
	version = 1
)

// FileBytes returns the length of the file of a filter of m cells.
func FileBytes(m uint64) uint64 { return HeaderBytes + m/byteBits }

// AppendFile appends the file NixBloom of the filter to dst, FileBytes(M) bytes. It returns dst unchanged and an
// error wrapping umbel.ErrMismatch if the filter doesn't use [NixHasher], since readers of the file would then
// get false negatives, or umbel.ErrGoal for the zero Filter.
//
// (MarshalBinary returns umbel's own container, as that of every kind does.)
func (f *Filter) AppendFile(dst []byte) ([]byte, error) {
	switch {
	case f.core().Zero:
		return dst, sentinel.Errorf(umbel.ErrGoal, "nixbloom: a zero Filter has no file: make it with New")
	case f.hasher != NixHasher:
		return dst, sentinel.Errorf(umbel.ErrMismatch,
			"nixbloom: the filter hashes with %v, the file of a Nix cache has hash %v: readers would get false negatives", f.hasher, NixHasher)
	}
	le := binary.LittleEndian
	end := len(dst) + int(FileBytes(f.bits.Len))
	dst = slices.Grow(dst, end-len(dst)+8)
	dst = append(dst, magic...)
	for _, number := range []uint64{version, uint64(f.k), f.bits.Len} {
		dst = le.AppendUint64(dst, number)
	}
	for _, w := range f.bits.Words {
		dst = le.AppendUint64(dst, w)
	}
	return dst[:end], nil
}

// CheckHeader returns the shape of the filter whose file begins with b, at least HeaderBytes long. It allocates
// nothing, so that a reader can refuse a file by its size before it reads the rest. It returns an error wrapping
// umbel.ErrCorrupt if b is shorter, or is not the header of a filter.
func CheckHeader(b []byte) (Shape, error) {
	if len(b) < HeaderBytes {
		return Shape{}, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: %d bytes, want a header of %d", len(b), HeaderBytes)
	}
	if string(b[:8]) != magic {
		return Shape{}, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: the file begins with %q, want %q", b[:8], magic)
	}
	le := binary.LittleEndian
	if v := le.Uint64(b[8:]); v != version {
		return Shape{}, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: version %d of the file, want %d", v, version)
	}
	k, m := le.Uint64(b[16:]), le.Uint64(b[24:])
	s := Shape{M: m, K: int(min(k, maxK+1)), Hasher: NixHasher}
	if err := s.check(); err != nil {
		return Shape{}, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	return s, nil
}

// ParseFile returns the filter of a file NixBloom, with [NixHasher]. It copies b. It returns an error wrapping
// umbel.ErrCorrupt unless b is a whole file, without further bytes. It allocates no more than b is long.
func ParseFile(b []byte) (*Filter, error) {
	s, err := CheckHeader(b)
	if err != nil {
		return nil, err
	}
	if uint64(len(b)) != FileBytes(s.M) {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "nixbloom: a file of %d bytes, want %d for %d cells", len(b), FileBytes(s.M), s.M)
	}
	f, err := NewShape(s)
	if err != nil {
		return nil, err
	}
	rest, words := b[HeaderBytes:], f.bits.Words
	for len(rest) >= 8 {
		words[0] = binary.LittleEndian.Uint64(rest)
		words, rest = words[1:], rest[8:]
	}
	for i, x := range rest {
		words[0] |= uint64(x) << (8 * i)
	}
	return f, nil
}
