package dataplane

import "github.com/umbel-filters/umbel/inpacket/multicast"

// Counters are what a node has seen so far, in packets.
type Counters struct {
	Injected   uint64 // from the node's own host
	Received   uint64 // from neighbours
	Sent       uint64 // to neighbours
	Delivered  uint64 // to the node's own host
	Unknown    uint64 // dropped: from an address that is no neighbour's
	TooLong    uint64 // dropped: longer than Options.MaxPacket
	Faults     uint64 // dropped because Options.Fault says so
	SendErrors uint64 // copies that the system wouldn't send, or for a port that isn't there
	// KernelDrops is how many packets came when the sockets were full; always zero
	// where the system doesn't tell, which is everywhere but on Linux.
	KernelDrops uint64
	Drops       [multicast.Reasons]uint64 // what the router dropped, by reason
	Ports       []PortCounters            // by port; nil in sums over nodes
}

// PortCounters are what went over one link, as one of its nodes sees it.
type PortCounters struct{ Received, Sent uint64 }

// add adds d to c, but for the ports.
func (c *Counters) add(d *Counters) {
	c.Injected += d.Injected
	c.Received += d.Received
	c.Sent += d.Sent
	c.Delivered += d.Delivered
	c.Unknown += d.Unknown
	c.TooLong += d.TooLong
	c.Faults += d.Faults
	c.SendErrors += d.SendErrors
	c.KernelDrops += d.KernelDrops
	for i, n := range d.Drops {
		c.Drops[i] += n
	}
}
