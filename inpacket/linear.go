package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/probe"
)

// matchLinear asks each plane for the parity of its bits in each link's row. The
// links are asked plane by plane, since so the words of a plane stay in registers.
func (t *Table) matchLinear(dst []uint64, h *Header) {
	planes, each := planesOf(h.K, h.Bits)
	for cs := t.codewords; len(cs) > 0; dst = dst[1:] {
		now := cs[:min(64, len(cs))]
		held := ^uint64(0)
		at, value := 0, uint64(h.Seed)<<seedLog
		for range planes - 1 {
			held &= allOdd(now, h.Filter, at, each, value)
			at += each
			value += 1 << planeLog
		}
		held &= allOdd(now, h.Filter, at, h.Bits-at, value)
		dst[0] = held >> (64 - len(now))
		cs = cs[len(now):]
	}
}

// allOdd asks up to 64 links for the parity of their rows, whose first value is given,
// in a plane of m bits from bit at of the filter on. The last link's is the highest
// bit. There is no branch on what the plane holds.
func allOdd(cs []Codeword, filter []byte, at, m int, value uint64) uint64 {
	offset, end := probe.Offset(value), at+m
	switch words(m) {
	case 0:
		return 0
	case 1:
		return oddWord(cs, offset, planeWord(filter, at, end))
	case 2:
		return oddPair(cs, offset, planeWord(filter, at, end), planeWord(filter, at+64, end))
	case 3:
		return oddThree(cs, offset, planeWord(filter, at, end), planeWord(filter, at+64, end), planeWord(filter, at+128, end))
	default:
		return oddMany(cs, filter, at, end, value)
	}
}

// oddWord is allOdd for a plane of one word.
func oddWord(cs []Codeword, offset umbel.Digest, plane uint64) (odd uint64) {
	for i := range cs {
		v, _ := streamOf(cs[i], offset).Next()
		odd = odd>>1 | uint64(bits.OnesCount64(v&plane))<<63
	}
	return odd
}

// oddPair is allOdd for a plane of two words.
func oddPair(cs []Codeword, offset umbel.Digest, first, second uint64) (odd uint64) {
	for i := range cs {
		v, s := streamOf(cs[i], offset).Next()
		u, _ := s.Next()
		odd = odd>>1 | uint64(bits.OnesCount64(v&first^u&second))<<63
	}
	return odd
}

// oddThree is allOdd for a plane of three words.
func oddThree(cs []Codeword, offset umbel.Digest, first, second, third uint64) (odd uint64) {
	for i := range cs {
		v, s := streamOf(cs[i], offset).Next()
		u, s := s.Next()
		w, _ := s.Next()
		odd = odd>>1 | uint64(bits.OnesCount64(v&first^u&second^w&third))<<63
	}
	return odd
}

// oddMany is allOdd for a plane of any length, which ends at bit end: two words at a
// time, of which it keeps the sums.
func oddMany(cs []Codeword, filter []byte, at, end int, value uint64) (odd uint64) {
	var sums [64]uint64
	for ; at < end; at, value = at+2*64, value+2 {
		offset, first, second := probe.Offset(value), planeWord(filter, at, end), planeWord(filter, at+64, end)
		for i := range cs {
			v, s := streamOf(cs[i], offset).Next()
			u, _ := s.Next()
			sums[i&63] ^= v&first ^ u&second
		}
	}
	for _, sum := range sums[:len(cs)] {
		odd = odd>>1 | uint64(bits.OnesCount64(sum))<<63
	}
	return odd
}

// planeWord returns the 64 bits of a filter from bit at on, those from bit end on as
// zeros.
func planeWord(filter []byte, at, end int) uint64 {
	left := end - at
	if left >= 64 {
		return load(filter, at)
	}
	if left <= 0 {
		return 0
	}
	return load(filter, at) & (1<<left - 1)
}
