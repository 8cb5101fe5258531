package bier

import (
	"errors"
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

// desk is what routers of both kinds do alike: they read packets, and write copies
// into memory of their own.
type desk struct {
	bift  uint32 // of set 0; other sets' follow
	sets  int
	bytes int // of a bit string

	bits  []uint64 // of the packet at hand, those that are left
	out   []uint64 // of the copy at hand
	arena []byte
}

func newDesk(bift uint32, sets, length int) desk {
	return desk{bift: bift, sets: sets, bytes: length / 8, bits: make([]uint64, length/64), out: make([]uint64, length/64)}
}

// open reads a packet: its set, its TTL here, and its bits into d.bits. What is
// wrong with it, if anything, is the reason.
func (d *desk) open(b []byte, in int) (set int, ttl uint8, wrong multicast.Reason) {
	var h Header
	if _, err := h.Parse(b); err != nil {
		if errors.Is(err, ErrVersion) {
			return 0, 0, multicast.Version
		}
		return 0, 0, multicast.Malformed
	}
	if h.BIFT < d.bift || h.BIFT >= d.bift+uint32(d.sets) {
		return 0, 0, multicast.Unknown
	}
	// The table's id says the length, and the field has to agree.
	if len(h.Bits) != d.bytes {
		return 0, 0, multicast.Malformed
	}
	if h.TTL == 0 {
		return 0, 0, multicast.Expired
	}
	if in != multicast.Host {
		h.TTL--
	}
	load(d.bits, h.Bits)
	d.arena = d.arena[:0]
	return int(h.BIFT - d.bift), h.TTL, multicast.None
}

// copy returns a copy of the packet b with a TTL and the bits of d.out. The last copy
// that is made of a packet is b itself.
func (d *desk) copy(b []byte, ttl uint8, last bool) []byte {
	if !last {
		if cap(d.arena)-len(d.arena) < len(b) {
			d.arena = make([]byte, 0, 2*cap(d.arena)+len(b)) // copies made before keep theirs
		}
		n := len(d.arena)
		d.arena = append(d.arena, b...)
		b = d.arena[n:len(d.arena):len(d.arena)]
	}
	b[3] = ttl
	store(b[fixed:fixed+d.bytes], d.out)
	return b
}
