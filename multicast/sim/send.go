// Package sim runs a scheme over a network in memory and counts copies, false forwards,
// loops, duplicates and lost receivers.
//
// A [Fabric] carries the packets of one tree, byte for byte, through the routers of a
// network, and returns a [Record], or a [Trace] hop by hop. An [Experiment] does so for
// many trees and returns a [Result]. [Experiment.Stale] repeats it with increasing
// numbers of links that failed or were added after the packets were encoded.
package sim

import (
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// MaxCopies is the default of Options.MaxCopies.
const MaxCopies = 10_000

// Options configure how packets are carried. The zero value is ready to use.
type Options struct {
	// MaxCopies is the largest number of copies that the packets of a tree may make,
	// including lost ones. With more the result is a storm, and the remaining packets are
	// discarded. 0 means the constant [MaxCopies].
	MaxCopies int
	// Down are the links that lose all packets, by number in the network's graph; nil
	// means none.
	Down []bool
	// OwnPaths means that the scheme finds its own paths to the receivers, as BIER does.
	// The tree then consists of the arcs by which each receiver was first reached.
	OwnPaths bool
}

// OwnPaths reports whether a scheme finds its own paths to the receivers instead of using
// the tree: the value for Options. Such a scheme has a method OwnPaths that returns true.
func OwnPaths(s scheme.Scheme) bool {
	own, ok := s.(interface{ OwnPaths() bool })
	return ok && own.OwnPaths()
}

// Send carries the packets of a plan from the source of its tree through the routers of a
// domain, and returns the result. The domain's present network is that of the fabric. The
// tree may be of a graph with other links between the same nodes. The caller must have
// set the receivers of the plan's group in the domain. Send allocates no memory once it
// has carried as much before.
func (w *Fabric) Send(d scheme.Domain, t *tree.Tree, p scheme.Plan, o Options) Record {
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

// carry carries one packet and all its copies.
func (w *Fabric) carry(d scheme.Domain, source int, packet []byte, o *Options) {
	next := len(w.hops)
	w.hops = append(w.hops, hop{arc: nowhere, from: -1, node: source, packet: w.buffer(packet)})
	for ; next < len(w.hops); next++ {
		h := w.hops[next] // a copy, because route appends to hops
		if !w.storm && !h.lost {
			w.route(d, &h, next, o)
		}
		w.free, h.packet = append(w.free, h.packet), nil
		w.hops[next] = h
	}
}

// route lets a router decide about the packet of h, which is hop number i, and puts the
// copies on their links.
func (w *Fabric) route(d scheme.Domain, h *hop, i int, o *Options) {
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

// buffer returns a copy of a packet: routers may modify their input, and keep the memory
// of their output.
func (w *Fabric) buffer(packet []byte) []byte {
	var b []byte
	if n := len(w.free); n > 0 {
		b, w.free = w.free[n-1], w.free[:n-1]
	}
	return append(b[:0], packet...)
}

// Fabric is the links of a network, in memory. It carries packets breadth first: all that
// are one hop from the source, then all that are two hops away. It is not safe for
// concurrent use.
type Fabric struct {
	network *multicast.Network
	ends    []end // by arc

	hops   []hop // of all packets of the tree, in the order of routing
	copies []multicast.Copy
	made   int      // number of copies so far
	storm  bool     // there are too many copies
	free   [][]byte // buffers of packets that have been routed

	// watch, if not nil, is called for each packet before it is routed; i is the number
	// of its hop.
	watch func(i int, r multicast.Router, packet []byte, in int)

	inTree   []bool // by arc
	covered  []bool // by arc: carried a packet that followed the tree
	carried  []int  // by arc: number of times it carried the current packet
	seen     []int  // by node: number of arrivals of the current packet
	receives []bool // by node
	got      []int  // by node: number of deliveries of all packets
}

// end is the end of an arc: a node and its port number there.
type end struct{ node, port int }

// hop is a packet on an arc to a node.
type hop struct {
	arc      topology.Arc // nowhere if it comes from the source's host
	from     int          // index of the hop of which it is a copy, or -1
	node     int
	level    int // number of links it has crossed
	packet   []byte
	verdict  multicast.Verdict
	routed   bool // neither lost nor discarded in a storm
	first    int  // its copies are hops first to last-1
	last     int
	lost     bool
	reached  bool // it reached a receiver first
	offTree  bool // not on an arc of the tree
	detoured bool // off the tree, or a copy of such a hop
	again    bool // the node already had the same packet
}

// nowhere is the arc of packets from a host.
const nowhere topology.Arc = -1

// NewFabric returns the links of a network.
func NewFabric(n *multicast.Network) *Fabric {
	nodes, arcs := len(n.Graph.Nodes), 2*len(n.Graph.Links)
	w := &Fabric{
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
