package multicast

import "sync/atomic"

// Counters count what a node did. They only grow, and may be read while the node
// works: each number is right, but two of them may be of different moments.
type Counters struct {
	packets, copies, delivered atomic.Uint64
	down, repairs, unrepaired  atomic.Uint64
	dropped                    [Reasons]atomic.Uint64
}

// Counts are Counters at a moment.
type Counts struct {
	Packets    uint64          // that came in, dropped ones too
	Copies     uint64          // that went out
	Delivered  uint64          // to the node's own host
	Down       uint64          // copies not made since the port was down, repaired or not
	Repairs    uint64          // ways around a port that is down, added to packets
	Unrepaired uint64          // ways around that there are, but that couldn't be added or taken
	Dropped    [Reasons]uint64 // by reason; that of None is 0
}

// Read returns the counts so far.
func (c *Counters) Read() Counts {
	s := Counts{
		Packets: c.packets.Load(), Copies: c.copies.Load(), Delivered: c.delivered.Load(),
		Down: c.down.Load(), Repairs: c.repairs.Load(), Unrepaired: c.unrepaired.Load(),
	}
	for i := range s.Dropped {
		s.Dropped[i] = c.dropped[i].Load()
	}
	return s
}

// Drops returns how many packets were dropped, for whatever reason.
func (c Counts) Drops() uint64 {
	n := uint64(0)
	for _, d := range c.Dropped {
		n += d
	}
	return n
}
