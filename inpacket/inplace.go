package inpacket

import "encoding/binary"

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
