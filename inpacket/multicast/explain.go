package multicast

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Explanation is what a node thinks of a packet.
type Explanation struct {
	Drop    Reason // why the packet goes nowhere, if that is a fault
	Deliver bool   // to the node's own host
	TTL     uint8  // with which copies go out; 0 if none may
	Repairs int    // ways around ports that are down, added to the filter
	Ports   []PortView
}

// PortView is what a node thinks of a packet and one of its ports.
type PortView struct {
	Holds   bool // the filter holds the port's link, after repairs
	Ingress bool // the packet came in on it
	Down    bool
	Sends   bool // a copy goes out on it
}

// Explain says what Route would decide on a packet. It changes neither the packet
// nor anything in the node, and counts nothing.
func (n *Node) Explain(b []byte, in int) Explanation {
	b = slices.Clone(b) // repairs write into it
	h := &n.header
	t, why := n.admit(b, in)
	if why == None && h.Sequenced && n.window != nil && !n.window.new(h.Source, h.Sequence) {
		why = Duplicate
	}
	e := Explanation{Drop: why, Ports: make([]PortView, n.ports)}
	for p := range e.Ports {
		e.Ports[p] = PortView{Ingress: p == in, Down: n.down.has(p)}
	}
	if why != None {
		return e
	}
	e.TTL, e.Deliver = h.TTL, n.delivers(in)
	if h.TTL == 0 {
		return e
	}
	e.Repairs = n.choose(t, in).made
	for p := range e.Ports {
		e.Ports[p].Holds, e.Ports[p].Sends = n.hits.has(p), n.out.has(p)
	}
	return e
}

// String returns the explanation in words, of the ports only those whose links the
// filter holds.
func (e Explanation) String() string {
	if e.Drop != None {
		return "dropped: " + e.Drop.words()
	}
	var parts []string
	if e.Deliver {
		parts = append(parts, "delivered")
	}
	if e.TTL == 0 {
		parts = append(parts, "goes no further: its TTL is used up")
	}
	switch {
	case e.Repairs == 1:
		parts = append(parts, "a way around a port that is down added to the filter")
	case e.Repairs > 1:
		parts = append(parts, fmt.Sprintf("ways around %d ports that are down added to the filter", e.Repairs))
	}
	for p, v := range e.Ports {
		switch {
		case v.Sends:
			parts = append(parts, fmt.Sprintf("out on port %d", p))
		case v.Holds && v.Ingress:
			parts = append(parts, fmt.Sprintf("not back on port %d", p))
		case v.Holds && v.Down:
			parts = append(parts, fmt.Sprintf("port %d is down", p))
		}
	}
	if len(parts) == 0 {
		return "no link of this node is in the filter"
	}
	return strings.Join(parts, "; ")
}

// Reason is why a packet is dropped. Routers count packets by reason.
type Reason uint8

const (
	None        Reason = iota
	Malformed          // the header isn't one, or is cut off
	Version            // of a version of the format that isn't known
	Epoch              // of an epoch whose codewords the router hasn't
	Expired            // its TTL is used up
	AllOnes            // its filter holds every link there could be
	Overfull           // more of its filter's bits are one than any sender's filter has
	Duplicate          // came before, by source and sequence
	Unknown            // of a form or a candidate set that the router has no codewords for
	Unsequenced        // has no sequence, and the router takes none such
	Loose              // its filter holds more links by chance than the router allows
	TooFar             // its TTL is higher than any the router allows
	Reasons            // how many reasons there are
)

var reasons = [Reasons]string{
	"", "malformed", "version", "epoch", "expired", "all-ones", "over-full", "duplicate", "unknown", "unsequenced",
	"loose", "too-far",
}

// inWords are the reasons, for those who look for a fault.
var inWords = [Reasons]string{
	"not dropped",
	"it is no header, or is cut off",
	"its version of the format isn't known here",
	"there are no keys for its epoch here",
	"its TTL was used up before it came",
	"all bits of its filter are one, so that it would go out on every link",
	"more than three quarters of its filter's bits are one",
	"it came before, or is too far behind the newest of its source",
	"there are no codewords for its form, or set of codewords, here",
	"it has no sequence, and nothing without one is taken here",
	"its filter holds more links by chance than is allowed here",
	"its TTL is higher than is allowed here",
}

func (r Reason) words() string {
	if int(r) < len(inWords) {
		return inWords[r]
	}
	return "for a reason that isn't known here"
}

// String returns the reason in a word, "" for None.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return "reason unknown"
}

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
