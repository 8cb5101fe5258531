package bier

import (
	"math/bits"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// Router is a node's router in a [Domain].
type Router struct {
	desk
	tables []table // of each set

	set, word int // where its own bit is
	own       uint64
}

// table is a router's bit index forwarding table for one set: RFC 8279, section 6.4.
type table struct {
	rows   []uint16 // for each bit that is routed, which of ports
	masks  []uint64 // for each of ports the bits that are routed by it, its F-BM
	routed []uint64 // the bits that are routed, by any
	ports  []int    // in the present network, -1 where the link is gone
}

// mask returns the bits that are routed by a port.
func (t *table) mask(port int) []uint64 {
	n := len(t.routed)
	return t.masks[port*n : (port+1)*n]
}

// Route sends one copy to each neighbor that is next on the path of any receiver of
// the packet, with the bits of those receivers, as RFC 8279 says in section 6.5, and
// delivers if the packet has this router's bit. Bits that are no reachable node's are
// taken out.
//
// Dropped are packets of another table's id, of no bit that is of use here (both
// Unknown) and, as Expired, those that have bits for other nodes and no TTL left:
// then a receiver was lost, and perhaps this node's is served all the same.
func (r *Router) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	set, ttl, wrong := r.open(b, in)
	if wrong != multicast.None {
		return dst, multicast.Verdict{Drop: wrong}
	}
	var v multicast.Verdict
	if set == r.set {
		v.Deliver = r.bits[r.word]&r.own != 0
	}
	t := &r.tables[set]
	if !keep(r.bits, t.routed) {
		if !v.Deliver {
			v.Drop = multicast.Unknown
		}
		return dst, v
	}
	if ttl == 0 {
		v.Drop = multicast.Expired
		return dst, v
	}
	before := len(dst)
	for w := range r.bits {
		for r.bits[w] != 0 {
			row := int(t.rows[w<<6|bits.TrailingZeros64(r.bits[w])])
			last := r.take(t.mask(row))
			if port := t.ports[row]; port >= 0 {
				dst = append(dst, multicast.Copy{Port: port, Packet: r.copy(b, ttl, last)})
			}
		}
	}
	if len(dst) == before && !v.Deliver {
		v.Drop = multicast.Unknown
	}
	return dst, v
}

// take moves the bits of a mask from r.bits to r.out, which has no others then, and
// returns whether none are left.
func (r *Router) take(mask []uint64) (last bool) {
	bits, out := r.bits[:len(mask)], r.out[:len(mask)]
	var left uint64
	for i, m := range mask {
		b := bits[i]
		out[i] = b & m
		bits[i] = b &^ m
		left |= b &^ m
	}
	return left == 0
}

// keep takes all bits out that aren't in a mask, and returns whether any stay.
func keep(words, mask []uint64) bool {
	var any uint64
	for i, m := range mask {
		words[i] &= m
		any |= words[i]
	}
	return any != 0
}
