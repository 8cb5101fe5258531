package inpacket

// foldedLink is a link's positions at FoldBase, with seed 0; the last isn't used.
type foldedLink [maxK + 1]uint16

// matchFolded asks for the positions of each link at FoldBase, divided to the
// filter's length.
func (t *Table) matchFolded(dst []uint64, h *Header) {
	if h.K == 0 || FoldBase%h.Bits != 0 {
		t.none(dst)
		return
	}
	k, filter, by := int(h.K), h.Filter, newDivisor(FoldBase/h.Bits)
	for links := t.folded; len(links) > 0; dst = dst[1:] {
		now := links[:min(64, len(links))]
		var held uint64
		for i := range now {
			yes := ^uint64(0)
			for _, p := range now[i][:k] {
				at := by.quotient(p)
				yes &= uint64(filter[at>>3] >> (at & 7))
			}
			held = held>>1 | yes<<63
		}
		dst[0] = held >> (64 - len(now))
		links = links[len(now):]
	}
}

// divisor divides 16-bit numbers by a multiplication: it is ⌈2^32/g⌉ for the
// divisor g. That exceeds 2^32/g by less than 1, and a number times the excess, over
// 2^32, by less than 2^-16: too little to reach the next quotient.
type divisor uint64

func newDivisor(g int) divisor { return divisor((1<<32 + uint64(g) - 1) / uint64(g)) }

func (d divisor) quotient(n uint16) uint64 { return uint64(n) * uint64(d) >> 32 }
