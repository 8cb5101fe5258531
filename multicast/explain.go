package multicast

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Explanation is the decision of a node about a packet, in detail.
type Explanation struct {
	Drop    Reason // why the packet is dropped; None if it isn't
	Deliver bool   // whether the node's own host receives it
	TTL     uint8  // TTL of the copies; 0 if no copy is sent
	Repairs int    // number of detours around ports that are down, added to the filter
	Ports   []PortView
}

// PortView is the decision about one port.
type PortView struct {
	Holds   bool // the filter contains the port's link, after repairs
	Ingress bool // the packet arrived on it
	Down    bool
	Sends   bool // a copy is sent on it
}

// Explain returns what Route would decide about a packet. It modifies neither the packet
// nor the node, and counts nothing.
func (n *Node) Explain(b []byte, in int) Explanation {
	b = slices.Clone(b) // repairs write into it
	h := &n.header
	t, why := n.admit(b, in)
	if why == None && h.Sequenced && n.window != nil && !n.window.isNew(h.Source, h.Sequence) {
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

// String returns the explanation in words. It mentions only the ports whose links the
// filter contains.
func (e Explanation) String() string {
	if e.Drop != None {
		return "dropped: " + e.Drop.words()
	}
	var parts []string
	if e.Deliver {
		parts = append(parts, "delivered")
	}
	if e.TTL == 0 {
		parts = append(parts, "not forwarded: its TTL is 0")
	}
	switch {
	case e.Repairs == 1:
		parts = append(parts, "a detour around a port that is down was added to the filter")
	case e.Repairs > 1:
		parts = append(parts, fmt.Sprintf("detours around %d ports that are down were added to the filter", e.Repairs))
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
		return "the filter contains no link of this node"
	}
	return strings.Join(parts, "; ")
}

// Reason is the reason for which a packet is dropped. Routers count packets by reason.
type Reason uint8

const (
	None        Reason = iota
	Malformed          // the header is invalid or cut off
	Version            // unknown version of the format
	Epoch              // the router has no codewords of the epoch
	Expired            // the TTL is 0
	AllOnes            // the filter consists of ones and contains every link
	Overfull           // more than three quarters of the filter's bits are ones
	Duplicate          // a packet of this source and sequence number arrived before
	Unknown            // the router has no codewords for the form or the set of codewords
	Unsequenced        // the packet has no sequence number, and the router requires one
	TooLoose           // the filter's false-match rate is above the router's limit
	TooFar             // the TTL is above the router's limit
	Reasons            // number of reasons
)

var reasons = [Reasons]string{
	"", "malformed", "version", "epoch", "expired", "all-ones", "over-full", "duplicate", "unknown", "unsequenced",
	"too-loose", "too-far",
}

// inWords are descriptions of the reasons for troubleshooting.
var inWords = [Reasons]string{
	"not dropped",
	"its header is invalid or cut off",
	"the node does not know its version of the format",
	"the node has no keys of its epoch",
	"its TTL was 0 when it arrived",
	"all bits of its filter are ones, so that it would be sent on every link",
	"more than three quarters of its filter's bits are ones",
	"it arrived before, or its sequence number is 64 or more below the highest of its source",
	"the node has no codewords for its form or set of codewords",
	"it has no sequence number, and the node requires one",
	"the false-match rate of its filter is above the node's limit",
	"its TTL is above the node's limit",
}

func (r Reason) words() string {
	if int(r) < len(inWords) {
		return inWords[r]
	}
	return "unknown reason"
}

// String returns the reason as a word, or "" for None.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return "reason unknown"
}

// Counters count the events of a node. They are safe to read while the node works; two
// values may then be of different moments.
type Counters struct {
	packets, copies, delivered atomic.Uint64
	down, repairs, unrepaired  atomic.Uint64
	dropped                    [Reasons]atomic.Uint64
}

// Counts are the values of Counters at one moment.
type Counts struct {
	Packets    uint64          // packets that arrived, including dropped ones
	Copies     uint64          // copies that were sent
	Delivered  uint64          // packets delivered to the node's own host
	Down       uint64          // copies not sent because the port was down, repaired or not
	Repairs    uint64          // detours around ports that are down, added to packets
	Unrepaired uint64          // detours that exist but couldn't be added
	Dropped    [Reasons]uint64 // by reason; that of None is 0
}

// Read returns the current values.
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

// Drops returns the number of dropped packets.
func (c Counts) Drops() uint64 {
	n := uint64(0)
	for _, d := range c.Dropped {
		n += d
	}
	return n
}
