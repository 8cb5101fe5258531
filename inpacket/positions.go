package inpacket

import (
	"encoding/binary"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/probe"
)

// seedLog is the log of the number of values of a codeword's stream that belong to
// one seed: as many as the longest filter has words in four planes.
const seedLog = 12

// stream returns the values that c has under a seed.
func (c Codeword) stream(seed uint32) probe.Stream {
	return probe.Start(umbel.Digest(c)).Skip(uint64(seed) << seedLog)
}

// AppendPositions appends the k positions of c below m to dst, m at most 2^16. The
// seed is a header's, or that of a stage: see [StageSeed]. A value of the stream
// gives two positions, the first by its high half: the half times m, divided by
// 2^32. A position may come twice.
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

// load returns 64 bits of a filter from bit at on, zeros behind its end.
func load(filter []byte, at int) uint64 {
	if i := at >> 3; i+9 <= len(filter) {
		w := filter[i : i+9]
		return binary.LittleEndian.Uint64(w)>>(at&7) | uint64(w[8])<<(64-(at&7))
	}
	return loadLast(filter, at)
}

// loadLast is load where no more than 8 bytes are left.
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
