package imported

import (
	"encoding/binary"
)

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
