package inpacket

import "math/bits"

// foldedLink is a link's positions at FoldBase, with seed 0; the last isn't used.
type foldedLink [maxK + 1]uint16

// matchFolded asks for the positions of each link at FoldBase, divided to the
// filter's length.
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

// allAtQuotients asks for k positions of up to 64 links, four in a row as long as
// there are.
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

// divisor divides 16-bit numbers by a multiplication: it is ⌈2^32/g⌉ for the
// divisor g. That exceeds 2^32/g by less than 1, and a number times the excess, over
// 2^32, by less than 2^-16: too little to reach the next quotient.
type divisor uint64

func newDivisor(g int) divisor { return divisor((1<<32 + uint64(g) - 1) / uint64(g)) }

func (d divisor) quotient(n uint16) uint64 { return uint64(n) * uint64(d) >> 32 }

// bitAt returns, in its lowest bit, the bit of a filter at the quotient of n.
func (d divisor) bitAt(filter []byte, n uint16) uint8 {
	at := d.quotient(n)
	return bits.RotateLeft8(filter[at>>3], -int(at))
}
