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
	plane  uint64 // times 8
}

// linearFew is how many words of planes are laid out before the links are asked:
// filters of up to 600 bits have no more. Those of longer filters are read anew for
// each link.
const linearFew = 12

// matchLinear asks each plane for the parity of its bits in each link's row.
func (t *Table) matchLinear(dst []uint64, h *Header) {
	planes, each := planesOf(h.K, h.Bits)
	rest := h.Bits - (planes-1)*each
	if (planes-1)*words(each)+words(rest) > linearFew {
		t.matchLong(dst, h)
		return
	}
	var layout [linearFew]linearWord
	n := 0
	for p := range planes {
		at, length := p*each, each
		if p == planes-1 {
			length = rest
		}
		for w := range words(length) {
			value := uint64(h.Seed)<<seedLog + uint64(p)<<planeLog + uint64(w)
			layout[n] = linearWord{planeWord(h.Filter, at, length, w), probe.Offset(value), uint64(8 * p)}
			n++
		}
	}
	want := uint64(0x01010101) & (1<<(8*planes) - 1)
	for cs := t.codewords; len(cs) > 0; dst = dst[1:] {
		now := cs[:min(64, len(cs))]
		dst[0] = allOdd(now, layout[:n], want)
		cs = cs[len(now):]
	}
}

// allOdd asks up to 64 links. The lowest bit of byte p of want is one if there is a
// plane p.
func allOdd(cs []Codeword, layout []linearWord, want uint64) (held uint64) {
	for i := range cs {
		c := cs[i]
		even := want
		for j := range layout {
			w := &layout[j]
			v, _ := streamOf(c, w.offset).Next()
			even ^= uint64(bits.OnesCount64(v&w.bits)) << (w.plane & 63)
		}
		even &= want
		held = held>>1 | (even-1)&(1<<63)
	}
	return held >> (64 - len(cs))
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
