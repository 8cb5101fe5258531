package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/probe"
)

// matchBits asks for k positions of each link among m bits of a filter, from bit
// first on. Those bits are there.
//
// There is no branch on what the filter holds: half of the bits are one, and a
// mispredicted branch costs as much as a link. Up to 4 positions are laid out in a
// row; they are what headers mostly have.
func (t *Table) matchBits(dst []uint64, filter []byte, first, m int, seed uint32, k int) {
	if k == 0 || m == 0 {
		t.none(dst)
		return
	}
	offset := probe.Offset(uint64(seed) << seedLog)
	for cs := t.codewords; len(cs) > 0; dst = dst[1:] {
		now := cs[:min(64, len(cs))]
		switch {
		case k > 4:
			dst[0] = moreThanFour(now, filter, uint64(m), uint64(first), offset, k)
		case k > 2:
			dst[0] = upToFour(now, filter, uint64(m), uint64(first), offset, uint8(k&1))
		default:
			dst[0] = upToTwo(now, filter, uint64(m), uint64(first), offset, uint8(k&1))
		}
		cs = cs[len(now):]
	}
}

// upToFour asks for four positions, or if odd is 1 for three, of up to 64 links.
func upToFour(cs []Codeword, filter []byte, m, first uint64, offset umbel.Digest, odd uint8) (held uint64) {
	for i := range cs {
		v, s := streamOf(cs[i], offset).Next()
		u, _ := s.Next()
		yes := bitAt(filter, m, first, v>>32) & bitAt(filter, m, first, low(v))
		yes &= bitAt(filter, m, first, u>>32) & (bitAt(filter, m, first, low(u)) | odd)
		held = held>>1 | uint64(yes)<<63
	}
	return held >> (64 - len(cs))
}

// upToTwo asks for two positions, or if odd is 1 for one, of up to 64 links.
func upToTwo(cs []Codeword, filter []byte, m, first uint64, offset umbel.Digest, odd uint8) (held uint64) {
	for i := range cs {
		v, _ := streamOf(cs[i], offset).Next()
		yes := bitAt(filter, m, first, v>>32) & (bitAt(filter, m, first, low(v)) | odd)
		held = held>>1 | uint64(yes)<<63
	}
	return held >> (64 - len(cs))
}

// moreThanFour asks for k positions of up to 64 links.
func moreThanFour(cs []Codeword, filter []byte, m, first uint64, offset umbel.Digest, k int) (held uint64) {
	odd := uint8(k & 1)
	for i := range cs {
		v, s := streamOf(cs[i], offset).Next()
		yes := bitAt(filter, m, first, v>>32) & bitAt(filter, m, first, low(v))
		v, s = s.Next()
		yes &= bitAt(filter, m, first, v>>32) & bitAt(filter, m, first, low(v))
		for range (k - 5) >> 1 {
			v, s = s.Next()
			yes &= bitAt(filter, m, first, v>>32) & bitAt(filter, m, first, low(v))
		}
		v, _ = s.Next()
		yes &= bitAt(filter, m, first, v>>32) & (bitAt(filter, m, first, low(v)) | odd)
		held = held>>1 | uint64(yes)<<63
	}
	return held >> (64 - len(cs))
}

// low returns the low half of a value.
func low(v uint64) uint64 { return uint64(uint32(v)) }

// bitAt returns, in its lowest bit, the bit at the position that half a value gives
// among m bits of a filter, from bit first on. (Rotated, a byte needs no at&7.)
func bitAt(filter []byte, m, first, half uint64) uint8 {
	at := half*m>>32 + first
	return bits.RotateLeft8(filter[at>>3], -int(at))
}
