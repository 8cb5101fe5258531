// Package sim runs a scheme over a network in memory and counts copies, false
// forwards, loops, duplicates and lost receivers.
//
// [Wires] carries the packets of one tree, byte for byte, through the routers of a
// network, and gives a [Record] of it, or a [Trace] hop by hop. An [Experiment] does
// so for many trees and gives a [Result]; [Experiment.Stale] repeats it with more and
// more links that failed, or came, after the packets were written.
package sim

import (
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// MaxCopies is how many copies a tree's packets may make unless Options say
// otherwise.
const MaxCopies = 10_000

// Options say how packets are carried. The zero value is ready to use.
type Options struct {
	// MaxCopies is how many copies the packets of a tree may make, with those lost,
	// before they are a storm and all that is under way is thrown away; 0 means
	// [MaxCopies].
	MaxCopies int
	// Down are links that lose all that is sent over them, by the number of the link in
	// the network's graph; nil means none.
	Down []bool
	// OwnPaths says that the scheme finds its own ways to the receivers, as BIER does:
	// then the tree is taken to be the arcs by which each receiver was first reached.
	OwnPaths bool
}

// OwnPaths reports whether a scheme finds its own ways to the receivers instead of the
// tree's: for Options.
func OwnPaths(s scheme.Scheme) bool { return s.Name() == "bier" }

// Send carries the packets of a plan from the source of its tree through the routers
// of a domain, and says what came of them. The domain's present network is that of the
// wires; the tree may be of a graph with other links between the same nodes. The
// caller has told the domain who receives the group that the plan names. Send doesn't
// allocate once it has carried as much before.
func (w *Wires) Send(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options) Record {
	r := Record{Headers: len(p.Headers), Bits: p.Bits, Form: p.Form, Search: p.Search, Receivers: len(t.Receivers)}
	w.hops, w.made, w.storm = w.hops[:0], 0, false
	if o.MaxCopies <= 0 {
		o.MaxCopies = MaxCopies
	}
	for _, packet := range p.Headers {
		r.Bytes += len(packet)
		w.carry(d, t.Source, packet, &o)
	}
	r.Storm = w.storm
	w.count(&r, t, o)
	return r
}

// Send carries the packets of a plan over the network n: see [Wires.Send].
func Send(d scheme.Domain, n *multicast.Network, t *tree.Tree, p scheme.Plan, o Options) Record {
	return NewWires(n).Send(d, t, p, o)
}

// carry carries one packet and all its copies.
func (w *Wires) carry(d scheme.Domain, source int, packet []byte, o *Options) {
	next := len(w.hops)
	w.hops = append(w.hops, hop{arc: nowhere, from: -1, node: source, packet: w.buffer(packet)})
	for ; next < len(w.hops); next++ {
		h := w.hops[next] // a copy: route makes hops longer
		if !w.storm && !h.lost {
			w.route(d, &h, next, o)
		}
		w.free, h.packet = append(w.free, h.packet), nil
		w.hops[next] = h
	}
}

// route has a router decide on the packet of h, which is hop number i, and puts the
// copies on their links.
func (w *Wires) route(d scheme.Domain, h *hop, i int, o *Options) {
	in := multicast.Host
	if h.arc != nowhere {
		in = w.ends[h.arc].port
	}
	router := d.Router(h.node)
	if w.watch != nil {
		w.watch(i, router, h.packet, in)
	}
	w.copies, h.verdict = router.Route(w.copies[:0], h.packet, in)
	if room := o.MaxCopies - w.made; len(w.copies) > room {
		w.copies, w.storm = w.copies[:room], true
	}
	h.routed, h.first = true, len(w.hops)
	ports := w.network.Ports(h.node)
	for _, c := range w.copies {
		arc := ports[c.Port].Arc
		w.hops = append(w.hops, hop{
			arc: arc, from: i, node: w.ends[arc].node, level: h.level + 1,
			packet: w.buffer(c.Packet),
			lost:   o.Down != nil && o.Down[arc.Link()],
		})
	}
	w.made += len(w.copies)
	h.last = len(w.hops)
}

// buffer returns a copy of a packet: routers may change what they are given, and
// what they give is theirs.
func (w *Wires) buffer(packet []byte) []byte {
	var b []byte
	if n := len(w.free); n > 0 {
		b, w.free = w.free[n-1], w.free[:n-1]
	}
	return append(b[:0], packet...)
}

// Wires are the links of a network, in memory. They carry packets breadth first: all
// that are one hop from the source, then all that are two hops. Wires belong to one
// goroutine.
type Wires struct {
	network *multicast.Network
	ends    []end // by arc

	hops   []hop // of all packets of the tree, in the order in which they are routed
	copies []multicast.Copy
	made   int      // copies so far
	storm  bool     // they are too many
	free   [][]byte // buffers of packets that have been routed

	// watch, if not nil, sees each packet before it is routed: hop number i.
	watch func(i int, r multicast.Router, packet []byte, in int)

	inTree   []bool // by arc
	covered  []bool // by arc: carried a packet of the tree's
	carried  []int  // by arc: how many times the present packet
	seen     []int  // by node: how many times the present packet
	receives []bool // by node
	got      []int  // by node: deliveries of all packets
}

// end is where an arc leads: a node, and the number of the port there.
type end struct{ node, port int }

// hop is a packet on its way to a node.
type hop struct {
	arc      topology.Arc // nowhere, if it comes from the source's host
	from     int          // the hop it is a copy of, or -1
	node     int
	level    int // how many links it has crossed
	packet   []byte
	verdict  multicast.Verdict
	routed   bool // not lost, nor thrown away in a storm
	first    int  // its copies are the hops from first to last-1
	last     int
	lost     bool
	reached  bool // it was the first to reach a receiver
	stray    bool // not on an arc of the tree
	detoured bool // stray itself, or a copy of one that is
	again    bool // the node had the same packet before
}

// nowhere is the arc of packets that come from a host.
const nowhere topology.Arc = -1

// NewWires returns the links of a network.
func NewWires(n *multicast.Network) *Wires {
	nodes, arcs := len(n.Graph.Nodes), 2*len(n.Graph.Links)
	w := &Wires{
		network: n, ends: make([]end, arcs),
		inTree: make([]bool, arcs), covered: make([]bool, arcs), carried: make([]int, arcs),
		seen: make([]int, nodes), receives: make([]bool, nodes), got: make([]int, nodes),
	}
	for node := range nodes {
		for number, port := range n.Ports(node) {
			w.ends[port.Arc.Reverse()] = end{node, number}
		}
	}
	return w
}
