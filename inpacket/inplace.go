package inpacket

import "encoding/binary"

// What a router changes in a packet, without writing the header anew. The packet is
// one that Parse took.

// SetTTL sets the TTL of a packet.
func SetTTL(packet []byte, ttl uint8) { packet[1] = ttl }

// Record writes a node into the trace of a packet, behind those that are there. It
// reports whether it did: not if the packet has no trace, or one that is full.
func Record(packet []byte, node uint32) bool {
	if len(packet) < FixedSize || packet[0]&flagTrace == 0 {
		return false
	}
	bits := int(binary.BigEndian.Uint16(packet[4:]))
	at := FixedSize + filterField(packet[0]&flagWide != 0, (bits+7)>>3)
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
