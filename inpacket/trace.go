package inpacket

import "encoding/binary"

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
