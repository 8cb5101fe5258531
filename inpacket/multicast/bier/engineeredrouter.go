package bier

import (
	"math/bits"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// EngineeredRouter is a node's router in an [Engineered] domain. Its table is sparse:
// ports are in the order of their links, so the rank of a link's bit among those of
// all the node's links is its port.
type EngineeredRouter struct {
	desk
	links []uint64 // the bits of the node's links
	first []int    // of each word, the rank of the first of its bits
	ports []int    // by rank, in the present network, -1 where the link is gone

	word int // where its own bit is, which says that packets are for it
	own  uint64
	leaf bool // its own bit is shared with all leaves
}

// Route sends a copy over each of the node's links whose bit the packet has, with the
// bits of all of them, and its own, cleared (RFC 9262, section 4.4), and delivers if
// the packet has its own bit. A leaf leaves the bit that it shares alone in packets
// of its own host, which are for other leaves.
//
// Dropped are packets as by [Router.Route].
func (r *EngineeredRouter) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	_, ttl, wrong := r.open(b, in)
	if wrong != multicast.None {
		return dst, multicast.Verdict{Drop: wrong}
	}
	var v multicast.Verdict
	if !r.leaf || in != multicast.Host {
		v.Deliver = r.bits[r.word]&r.own != 0
		r.bits[r.word] &^= r.own
	}
	copies := r.split()
	if copies > 0 && ttl == 0 {
		v.Drop = multicast.Expired
		return dst, v
	}
	before := len(dst)
	for w, word := range r.bits {
		for ; word != 0; word &= word - 1 {
			copies--
			below := word&-word - 1
			port := r.ports[r.first[w]+bits.OnesCount64(r.links[w]&below)]
			if port >= 0 {
				dst = append(dst, multicast.Copy{Port: port, Packet: r.copy(b, ttl, copies == 0)})
			}
		}
	}
	if len(dst) == before && !v.Deliver {
		v.Drop = multicast.Unknown
	}
	return dst, v
}

// split leaves in r.bits those of the node's links, puts the others into r.out, and
// returns how many stay.
func (r *EngineeredRouter) split() int {
	n := 0
	for i, m := range r.links {
		r.out[i] = r.bits[i] &^ m
		r.bits[i] &= m
		n += bits.OnesCount64(r.bits[i])
	}
	return n
}
