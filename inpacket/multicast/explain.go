package multicast

import (
	"fmt"
	"slices"
	"strings"
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
