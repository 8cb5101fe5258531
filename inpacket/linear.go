package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/probe"
)

// linearWord is a word of a plane, and where the stream of a link has the word of
// its row that goes with it.
type linearWord struct {
	bits   uint64
	offset umbel.Digest
	plane  uint8 // times 8
}

// linearFew is how many words of planes are laid out before the links are asked:
// filters of up to 600 bits have no more. Those of longer filters are read anew for
// each link.
const linearFew = 12

// matchLinear asks each plane for the parity of its bits in each link's row.
func (t *Table) matchLinear(dst []uint64, h *Header) {
	planes, lengths := LinearPlanes(h.K, h.Bits)
	total := 0
	for _, n := range lengths {
		total += words(n)
	}
	if total > linearFew {
		t.matchLong(dst, h)
		return
	}
	var layout [linearFew]linearWord
	at, n := 0, 0
	for p, length := range lengths[:planes] {
		for w := range words(length) {
			value := uint64(h.Seed)<<seedLog + uint64(p)<<planeLog + uint64(w)
			layout[n] = linearWord{planeWord(h.Filter, at, length, w), probe.Offset(value), uint8(8 * p)}
			n++
		}
		at += length
	}
	want := uint64(1)<<(8*planes) - 1
	want &= 0x01010101
	for cs := t.codewords; len(cs) > 0; dst = dst[1:] {
		now := cs[:min(64, len(cs))]
		var held uint64
		for _, c := range now {
			var odd uint64 // in the lowest bit of byte p, the parity in plane p
			for _, w := range layout[:n] {
				v, _ := streamOf(c, w.offset).Next()
				odd ^= uint64(bits.OnesCount64(v&w.bits)) << (w.plane & 63)
			}
			held >>= 1
			if odd&0x01010101 == want {
				held |= 1 << 63
			}
		}
		dst[0] = held >> (64 - len(now))
		cs = cs[len(now):]
	}
}

// planeWord returns word w of a plane of so many bits that begins at bit at.
func planeWord(filter []byte, at, bits, w int) uint64 {
	v := load(filter, at+w*64)
	if left := bits - w*64; left < 64 {
		v &= 1<<left - 1
	}
	return v
}

// matchLong is matchLinear for filters of many words.
func (t *Table) matchLong(dst []uint64, h *Header) {
	t.none(dst)
	for i, c := range t.codewords {
		dst[i>>6] |= c.inPlanes(h) << (i & 63)
	}
}

// inPlanes returns 1 if all planes of h hold c, else 0.
func (c Codeword) inPlanes(h *Header) uint64 {
	planes, lengths := LinearPlanes(h.K, h.Bits)
	yes, at := 1, 0
	for p, length := range lengths[:planes] {
		s := c.stream(uint32(h.Seed)).Skip(uint64(p) << planeLog)
		var v, sum uint64
		for w := range words(length) {
			v, s = s.Next()
			sum ^= v & planeWord(h.Filter, at, length, w)
		}
		yes &= bits.OnesCount64(sum)
		at += length
	}
	return uint64(yes & 1)
}
