package inpacket

import (
	"encoding/binary"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
)

// seedLog is the binary logarithm of the number of stream values per seed: the number of
// words of four sections of the longest filter.
const seedLog = 12

// stream returns the values of c under a seed.
func (c Codeword) stream(seed uint32) probe.Stream {
	return probe.Start(umbel.Digest(c)).Skip(uint64(seed) << seedLog)
}

// AppendPositions appends the k positions of c below m to dst. m is at most 2^16. The
// seed is that of a header or of a stage; see [StageSeed]. Each value of the stream gives
// two positions, the first from its high half: the half times m, divided by 2^32.
// Positions may repeat.
func (c Codeword) AppendPositions(dst []uint16, seed uint32, k uint8, m int) []uint16 {
	s := c.stream(seed)
	var v uint64
	for i := range k {
		if i&1 == 0 {
			v, s = s.Next()
		}
		dst = append(dst, uint16(v>>32*uint64(m)>>32))
		v <<= 32
	}
	return dst
}

// load returns 64 bits of a filter from bit at on, with zeros after its end.
func load(filter []byte, at int) uint64 {
	if i := at >> 3; i+9 <= len(filter) {
		w := filter[i : i+9]
		return binary.LittleEndian.Uint64(w)>>(at&7) | uint64(w[8])<<(64-(at&7))
	}
	return loadLast(filter, at)
}

// loadLast is load for the last 8 bytes or less.
func loadLast(filter []byte, at int) uint64 {
	if last := len(filter) - 8; last >= 0 {
		return binary.LittleEndian.Uint64(filter[last:]) >> uint(at-last*8)
	}
	var v uint64
	for i, b := range filter {
		v |= uint64(b) << (i * 8)
	}
	return v >> uint(at)
}

// A Staged filter is a sequence of stages, the one for TTL 1 first. Each stage begins
// with a head: 4 bits which, with the header's seed, give the seed of the stage, and 8
// bits of length code, low bits first. The bits of the stage follow.
const (
	StageHeadBits = nibbleBits + 8    // number of bits of the head of a stage
	maxStageBits  = 128 + (255-128)*4 // largest number of bits after the head
	nibbleBits    = 4
)

// StageBits returns the number of bits of a stage with a length code: the code itself
// below 128, and 128 + 4(code - 128) from 128 on, at most maxStageBits.
func StageBits(code uint8) int {
	if code < 128 {
		return int(code)
	}
	return 128 + 4*(int(code)-128)
}

// StageCode returns the smallest length code of a stage with at least the given number of
// bits, and false if that exceeds maxStageBits or is negative.
func StageCode(bits int) (code uint8, ok bool) {
	switch {
	case bits < 0 || bits > maxStageBits:
		return 0, false
	case bits < 128:
		return uint8(bits), true
	default:
		return uint8(128 + (bits-128+3)/4), true
	}
}

// StageSeed returns the seed of a stage: the header's seed, followed by the 4 bits of the
// stage's head.
func StageSeed(seed uint16, nibble uint8) uint32 { return uint32(seed)<<nibbleBits | uint32(nibble&15) }

// stage is the location of a stage in a filter.
type stage struct {
	nibble uint8
	first  int // the first bit after the head
	bits   int
}

// stageAt returns the stage whose head begins at bit at of a filter of m bits, and false
// if the filter ends before the stage.
func stageAt(filter []byte, m, at int) (s stage, ok bool) {
	if at+StageHeadBits > m {
		return stage{}, false
	}
	head := load(filter, at)
	s = stage{uint8(head & 15), at + StageHeadBits, StageBits(uint8(head >> nibbleBits))}
	return s, s.first+s.bits <= m
}

// stageFor returns the stage for a TTL.
func stageFor(filter []byte, m int, ttl uint8) (s stage, ok bool) {
	if ttl == 0 {
		return stage{}, false
	}
	at := 0
	for range ttl {
		if s, ok = stageAt(filter, m, at); !ok {
			return s, false
		}
		at = s.first + s.bits
	}
	return s, true
}

// checkStages returns an error unless a filter of m bits is a sequence of stages.
func checkStages(filter []byte, m int) error {
	n := 0
	for at := 0; at < m; n++ {
		s, ok := stageAt(filter, m, at)
		if !ok {
			return malformed("the stage at bit %d of %d is cut off", at, m)
		}
		at = s.first + s.bits
	}
	if n > 255 {
		return malformed("%d stages, want at most 255", n)
	}
	return nil
}

// matchStage queries the stage for h.TTL.
func (t *Table) matchStage(dst []uint64, h *Header) {
	s, ok := stageFor(h.Filter, h.Bits, h.TTL)
	if !ok {
		t.none(dst)
		return
	}
	t.matchBits(dst, h.Filter, s.first, s.bits, StageSeed(h.Seed, s.nibble), int(h.K))
}

// matchBits queries m bits of a filter, from bit first on, for k positions per link. The
// filter must contain these bits.
//
// It does not branch on the contents of the filter: half of the bits are ones, and a
// mispredicted branch costs as much as a link. Up to 4 positions have code without a
// loop, because most headers use at most 4.
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

// upToFour queries up to 64 links for four positions, or three if odd is 1.
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

// upToTwo queries up to 64 links for two positions, or one if odd is 1.
func upToTwo(cs []Codeword, filter []byte, m, first uint64, offset umbel.Digest, odd uint8) (held uint64) {
	for i := range cs {
		v, _ := streamOf(cs[i], offset).Next()
		yes := bitAt(filter, m, first, v>>32) & (bitAt(filter, m, first, low(v)) | odd)
		held = held>>1 | uint64(yes)<<63
	}
	return held >> (64 - len(cs))
}

// moreThanFour queries up to 64 links for k positions.
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

// low returns the low half of v.
func low(v uint64) uint64 { return uint64(uint32(v)) }

// bitAt returns, in its lowest bit, the bit at the position of a half value among m bits
// of a filter from bit first on. (A rotation of the byte saves computing at&7.)
func bitAt(filter []byte, m, first, half uint64) uint8 {
	at := half*m>>32 + first
	return bits.RotateLeft8(filter[at>>3], -int(at))
}

// foldedLink contains a link's positions at FoldBase with seed 0; the last element is
// unused.
type foldedLink [maxK + 1]uint16

// matchFolded queries the positions of each link at FoldBase, divided to the filter's
// length.
func (t *Table) matchFolded(dst []uint64, h *Header) {
	if h.K == 0 || FoldBase%h.Bits != 0 {
		t.none(dst)
		return
	}
	by := newDivisor(FoldBase / h.Bits)
	for links := t.folded; len(links) > 0; dst = dst[1:] {
		now := links[:min(64, len(links))]
		dst[0] = allAtQuotients(now, h.Filter, by, int(h.K))
		links = links[len(now):]
	}
}

// allAtQuotients queries up to 64 links for k positions, in groups of four.
func allAtQuotients(links []foldedLink, filter []byte, by divisor, k int) (held uint64) {
	for i := range links {
		yes, at := uint8(1), links[i][:k]
		for ; len(at) >= 4; at = at[4:] {
			yes &= by.bitAt(filter, at[0]) & by.bitAt(filter, at[1]) & by.bitAt(filter, at[2]) & by.bitAt(filter, at[3])
		}
		for _, p := range at {
			yes &= by.bitAt(filter, p)
		}
		held = held>>1 | uint64(yes)<<63
	}
	return held >> (64 - len(links))
}

// divisor divides 16-bit numbers by g with a multiplication; it is ⌈2^32/g⌉. This exceeds
// 2^32/g by less than 1. The error of a quotient, the number times the excess divided by
// 2^32, is less than 2^-16, which is too little to reach the next integer.
type divisor uint64

func newDivisor(g int) divisor { return divisor((1<<32 + uint64(g) - 1) / uint64(g)) }

func (d divisor) quotient(n uint16) uint64 { return uint64(n) * uint64(d) >> 32 }

// bitAt returns, in its lowest bit, the bit of a filter at the quotient of n.
func (d divisor) bitAt(filter []byte, n uint16) uint8 {
	at := d.quotient(n)
	return bits.RotateLeft8(filter[at>>3], -int(at))
}
