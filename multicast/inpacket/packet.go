package inpacket

import (
	"encoding/binary"
	"errors"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// These functions modify a packet that Parse accepted, without encoding the header again.

// SetTTL sets the TTL of a packet.
func SetTTL(packet []byte, ttl uint8) { packet[1] = ttl }

// SetSequence sets the sequence number of a packet, so that a sender can encode one
// header for many packets. It reports whether the packet has a sequence number.
func SetSequence(packet []byte, sequence uint32) bool {
	if len(packet) < FixedSize || packet[0]&flagSequence == 0 {
		return false
	}
	at := afterFilter(packet)
	if len(packet) < at+sequenceSize {
		return false
	}
	binary.BigEndian.PutUint32(packet[at+4:], sequence)
	return true
}

// afterFilter returns the end of the packet's filter field.
func afterFilter(packet []byte) int {
	bits := int(binary.BigEndian.Uint16(packet[4:]))
	return FixedSize + filterField(packet[0]&flagWide != 0, (bits+7)>>3)
}

// Record appends a node to the trace of a packet. It reports whether it did; it does
// nothing if the packet has no trace or the trace is full.
func Record(packet []byte, node uint32) bool {
	if len(packet) < FixedSize || packet[0]&flagTrace == 0 {
		return false
	}
	at := afterFilter(packet)
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

// Or adds a link to the filter of a Single or Folded header. It writes into h.Filter,
// which a parsed header shares with its packet, so that a router can send a packet around
// a broken link. It returns an error wrapping errors.ErrUnsupported for other forms, and
// [ErrMalformed] if a field of h is not as its comment requires; on error the filter is
// unchanged.
func (h *Header) Or(c Codeword) error {
	if h.Form != Single && h.Form != Folded {
		return sentinel.Errorf(errors.ErrUnsupported, "a link can't be added to a filter of form %d, want %d or %d", h.Form, Single, Folded)
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

// OrDense adds a link to the filter of a Dense header: the first h.Bits bits of its
// stored codeword c. It returns the errors of Or, and one wrapping [ErrMalformed] if c is
// shorter.
func (h *Header) OrDense(c BitString) error {
	if h.Form != Dense {
		return sentinel.Errorf(errors.ErrUnsupported, "a stored codeword can't be added to a filter of form %d, want %d", h.Form, Dense)
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
	traceHead = 4 // size of the trace before the nodes, in bytes
	nodeSize  = 4 // size of a node, in bytes
)

// Trace is the part of a header in which nodes record that the packet passed them. A
// packet is copied at each branch, so a receiver sees the nodes of its own branch.
type Trace struct {
	Nodes    []uint32 // the nodes passed, in order
	Capacity int      // the largest number of nodes, at most 255
}

func (t *Trace) append(dst []byte) []byte {
	dst = append(dst, byte(len(t.Nodes)), byte(t.Capacity), 0, 0)
	for _, n := range t.Nodes {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return append(dst, make([]byte, (t.Capacity-len(t.Nodes))*nodeSize)...)
}

// parseTrace reads the trace at an offset of the packet.
func parseTrace(packet []byte, at int) (*Trace, error) {
	if len(packet) < at+traceHead {
		return nil, cut(len(packet), at+traceHead)
	}
	count, capacity := int(packet[at]), int(packet[at+1])
	if count > capacity {
		return nil, malformed("a trace of %d nodes with capacity %d", count, capacity)
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
			return nil, malformed("byte %#x after the nodes of a trace, want 0", b)
		}
	}
	t := &Trace{Capacity: capacity}
	for i := range count {
		t.Nodes = append(t.Nodes, binary.BigEndian.Uint32(packet[at+i*nodeSize:]))
	}
	return t, nil
}
