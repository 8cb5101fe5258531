package bier

import (
	"errors"
	"math/bits"

	"github.com/umbel-filters/umbel/multicast"
)

// Router is the router of a node in a [Domain].
type Router struct {
	scratch
	tables []table // one per set

	set, word int // the position of the router's own bit
	own       uint64
}

// table is a bit index forwarding table (BIFT) of a router for one set: RFC 8279, section
// 6.4.
type table struct {
	rows   []uint16 // for each bit that is routed, the index in ports
	masks  []uint64 // for each of ports, its F-BM: the bits that are routed to it
	routed []uint64 // all bits that are routed
	ports  []int    // ports of the present network, -1 if the link is gone
}

// mask returns the bits that are routed to a port.
func (t *table) mask(port int) []uint64 {
	n := len(t.routed)
	return t.masks[port*n : (port+1)*n]
}

// Route sends one copy to each neighbor that is next on the path to a receiver of the
// packet. The copy has the bits of these receivers: RFC 8279, section 6.5. Route delivers
// the packet if it has this router's bit. It removes bits that are not of a reachable
// node.
//
// It drops packets with the id of another table and packets without a bit that is useful
// here (both Unknown), and, as Expired, packets that have bits for other nodes and TTL 0.
// In the last case a receiver was lost, and the packet may still be delivered to this
// node.
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

// take moves the bits of a mask from r.bits to r.out, which then has no other bits. It
// reports whether no bits are left.
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

// keep removes all bits that are not in a mask, and reports whether any are left.
func keep(words, mask []uint64) bool {
	var left uint64
	for i, m := range mask {
		words[i] &= m
		left |= words[i]
	}
	return left != 0
}

// scratch is the state that both types of router share: they parse packets, and write
// copies into their own memory.
type scratch struct {
	bift  uint32 // table id of set 0; the ids of the other sets follow
	sets  int
	bytes int // length of a bit string

	bits  []uint64 // the remaining bits of the current packet
	out   []uint64 // the bits of the current copy
	arena []byte
}

func newScratch(bift uint32, sets, length int) scratch {
	return scratch{bift: bift, sets: sets, bytes: length / 8, bits: make([]uint64, length/64), out: make([]uint64, length/64)}
}

// open reads a packet: its set, its TTL after this hop, and its bits into d.bits. If the
// packet is to be dropped, it returns the reason.
func (d *scratch) open(b []byte, in int) (set int, ttl uint8, wrong multicast.Reason) {
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
	// The table id implies the length, and the field must agree.
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

// TTL returns the TTL of a packet, or -1 if it is malformed.
func (d *scratch) TTL(packet []byte) int {
	var h Header
	if _, err := h.Parse(packet); err != nil {
		return -1
	}
	return int(h.TTL)
}

// Flood sets all bits of a packet, as an attacker would who wants to reach all nodes. It returns the errors
// of [Header.Parse].
func (d *scratch) Flood(packet []byte) error {
	var h Header
	if _, err := h.Parse(packet); err != nil {
		return err
	}
	for i := range h.Bits {
		h.Bits[i] = 0xff
	}
	return nil
}

// copy returns a copy of the packet b with a TTL and the bits of d.out. The last copy of
// a packet is b itself.
func (d *scratch) copy(b []byte, ttl uint8, last bool) []byte {
	if !last {
		if cap(d.arena)-len(d.arena) < len(b) {
			d.arena = make([]byte, 0, 2*cap(d.arena)+len(b)) // earlier copies keep the old memory
		}
		n := len(d.arena)
		d.arena = append(d.arena, b...)
		b = d.arena[n:len(d.arena):len(d.arena)]
	}
	b[3] = ttl
	store(b[fixed:fixed+d.bytes], d.out)
	return b
}
