package sim

import (
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

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
