package inpacket

import "github.com/umbel-filters/umbel/probe"

// matchBits asks for k positions of each link among m bits of a filter, from bit
// first on. Those bits are there.
//
// There is no branch on what the filter holds: half of the bits are one, and a
// mispredicted branch costs as much as a link. What k and the links decide, the
// predictor learns.
func (t *Table) matchBits(dst []uint64, filter []byte, first, m int, seed uint32, k int) {
	if k == 0 || m == 0 {
		t.none(dst)
		return
	}
	offset := probe.Offset(uint64(seed) << seedLog)
	for cs := t.codewords; len(cs) > 0; dst = dst[1:] {
		now := cs[:min(64, len(cs))]
		var held uint64
		for _, c := range now {
			s := streamOf(c, offset)
			var v uint64
			yes := ^uint64(0)
			for range k >> 1 {
				v, s = s.Next()
				yes &= bitAt(filter, first, v>>32, m) & bitAt(filter, first, v&low32, m)
			}
			if k&1 != 0 {
				v, _ = s.Next()
				yes &= bitAt(filter, first, v>>32, m)
			}
			held = held>>1 | yes<<63
		}
		dst[0] = held >> (64 - len(now))
		cs = cs[len(now):]
	}
}

const low32 = 1<<32 - 1

// bitAt returns, in its lowest bit, the bit of a filter at the position that half a
// value gives among m, counted from bit first.
func bitAt(filter []byte, first int, half uint64, m int) uint64 {
	at := half*uint64(m)>>32 + uint64(first)
	return uint64(filter[at>>3] >> (at & 7))
}
