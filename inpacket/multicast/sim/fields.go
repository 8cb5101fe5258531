package sim

import "github.com/umbel-filters/umbel/inpacket/multicast"

// ttlOf returns the TTL of a packet that a router is to see, -1 if it is too short.
func ttlOf(r multicast.Router, packet []byte) int {
	at := 3 // in the first word of a BIER header (RFC 8296), 20 bits of the table, 3 of the class, 1, 8 of the TTL
	if _, ok := r.(*multicast.Node); ok {
		at = 1
	}
	if len(packet) <= at {
		return -1
	}
	return int(packet[at])
}
