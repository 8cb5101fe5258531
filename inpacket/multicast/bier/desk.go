package bier

import (
	"errors"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

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
