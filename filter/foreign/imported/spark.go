package imported

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel"
)

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
