package inpacket

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What routers, and senders of many packets, change in a packet without writing the
// header anew. The packet is one that Parse took.

// SetTTL sets the TTL of a packet.
func SetTTL(packet []byte, ttl uint8) { packet[1] = ttl }

// SetSequence sets the sequence of a packet whose header has one, and reports whether
// it has: so that a sender makes a header once, for many packets.
func SetSequence(packet []byte, sequence uint32) bool {
	if len(packet) < FixedSize || packet[0]&flagSequence == 0 {
		return false
	}
	at := behindFilter(packet)
	if len(packet) < at+sequenceSize {
		return false
	}
	binary.BigEndian.PutUint32(packet[at+4:], sequence)
	return true
}

// behindFilter returns where a packet's filter field ends.
func behindFilter(packet []byte) int {
	bits := int(binary.BigEndian.Uint16(packet[4:]))
	return FixedSize + filterField(packet[0]&flagWide != 0, (bits+7)>>3)
}

// Record writes a node into the trace of a packet, behind those that are there. It
// reports whether it did: not if the packet has no trace, or one that is full.
func Record(packet []byte, node uint32) bool {
	if len(packet) < FixedSize || packet[0]&flagTrace == 0 {
		return false
	}
	at := behindFilter(packet)
	if packet[0]&flagSequence != 0 {
		at += sequenceSize
	}
	if len(packet) < at+traceHead || packet[at] >= packet[at+1] {
		return false
	}
	slot := at + traceHead + int(packet[at])*nodeSize
	if len(packet) < slot+nodeSize {
		return false
	}
	binary.BigEndian.PutUint32(packet[slot:], node)
	packet[at]++
	return true
}

// Or adds a link to the filter of a Single or Folded header, which then holds those
// it held and this one. It writes into h.Filter, which a parsed header shares with
// its packet: so a router can send a packet round a broken link. Other forms give
// an error that wraps errors.ErrUnsupported, and a header that isn't as its fields'
// comments say one that wraps [ErrMalformed]; the filter is then as it was.
func (h *Header) Or(c Codeword) error {
	if h.Form != Single && h.Form != Folded {
		return fmt.Errorf("inpacket: add a link to a filter of form %d, want %d or %d: %w", h.Form, Single, Folded, errors.ErrUnsupported)
	}
	if err := h.check(); err != nil {
		return err
	}
	var at [15]uint16
	for _, p := range c.AppendPositions(at[:0], uint32(h.Seed), h.K, h.Bits) {
		h.Filter[p>>3] |= 1 << (p & 7)
	}
	return nil
}

// OrDense adds a link by its stored codeword to the filter of a Dense header: the
// first h.Bits bits of it. It fails as Or does, and if the codeword is shorter.
func (h *Header) OrDense(c BitString) error {
	if h.Form != Dense {
		return fmt.Errorf("inpacket: add a stored codeword to a filter of form %d, want %d: %w", h.Form, Dense, errors.ErrUnsupported)
	}
	if err := h.check(); err != nil {
		return err
	}
	if len(c)*64 < h.Bits {
		return malformed("a codeword of %d bits for a filter of %d", len(c)*64, h.Bits)
	}
	for i := range h.Filter {
		b := byte(c[i>>3] >> ((i & 7) * 8))
		if left := h.Bits - i*8; left < 8 {
			b &= 1<<left - 1
		}
		h.Filter[i] |= b
	}
	return nil
}

const (
	traceHead = 4 // bytes before the nodes
	nodeSize  = 4 // bytes of a node
)

// Trace is room in a header in which nodes that the packet passes write their
// names, as numbers. A packet is copied at every branch: a receiver sees the nodes
// of its own branch.
type Trace struct {
	Nodes    []uint32 // the nodes passed, the first one first
	Capacity int      // how many there is room for, at most 255
}

func (t *Trace) append(dst []byte) []byte {
	dst = append(dst, byte(len(t.Nodes)), byte(t.Capacity), 0, 0)
	for _, n := range t.Nodes {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return append(dst, make([]byte, (t.Capacity-len(t.Nodes))*nodeSize)...)
}

// parseTrace reads the trace at a place in the packet.
func parseTrace(packet []byte, at int) (*Trace, error) {
	if len(packet) < at+traceHead {
		return nil, cut(len(packet), at+traceHead)
	}
	count, capacity := int(packet[at]), int(packet[at+1])
	if count > capacity {
		return nil, malformed("a trace of %d nodes with room for %d", count, capacity)
	}
	if rest := binary.BigEndian.Uint16(packet[at+2:]); rest != 0 {
		return nil, malformed("reserved bytes %#04x in a trace, want 0", rest)
	}
	at += traceHead
	if end := at + capacity*nodeSize; len(packet) < end {
		return nil, cut(len(packet), end)
	}
	free := packet[at+count*nodeSize : at+capacity*nodeSize]
	for _, b := range free {
		if b != 0 {
			return nil, malformed("byte %#x in the free room of a trace, want 0", b)
		}
	}
	t := &Trace{Capacity: capacity}
	for i := range count {
		t.Nodes = append(t.Nodes, binary.BigEndian.Uint32(packet[at+i*nodeSize:]))
	}
	return t, nil
}
