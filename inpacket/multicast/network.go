// Package multicast sends packets along trees that the packets themselves carry.
// Routers keep no state of groups: each has a table of its own links.
//
// A [Network] is a topology whose links have keys. A tree (package tree) over it
// becomes a header by a scheme (package scheme), and a [Router] at each node decides
// where a packet goes. Package sim runs a scheme over a network in memory and
// counts what goes wrong; package dataplane runs it over sockets.
//
// [Node] is the router of headers of package inpacket. It asks which of its links a
// header's filter holds, and sends there. Against packets that nobody should have
// sent, and against what goes wrong when a network isn't as its senders know it, it
//
//   - drops what has no epoch it knows, no TTL left, or a filter too full, and what has
//     a higher TTL or matches more by chance than its Config allows, and counts it by
//     [Reason];
//   - sends nothing back to where it came from, and counts the TTL down;
//   - may remember sequences, so that no packet passes twice ([Config.Window]), and take
//     none without, which bounds what any packet can do ([Config.OnlySequenced]);
//   - may add a way around a link that is down to the packet itself ([Detour]).
//
// [Node.Explain] says of one packet what a node would do with it, and why.
package multicast

import (
	"iter"
	"math/bits"
	"sync/atomic"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Network is a topology whose links have keys, in one epoch. It isn't changed, and
// may be used by any number of goroutines.
//
// The key of an arc derives from the network's and from the names of its nodes, so
// that a link keeps its key when others come and go.
type Network struct {
	Graph *topology.Graph
	Epoch uint16
	key   inpacket.Key
	ports [][]topology.Port
	arcs  []inpacket.Codeword
}

// NewNetwork returns the network of a graph with a key, in an epoch.
func NewNetwork(g *topology.Graph, key inpacket.Key, epoch uint16) *Network {
	n := &Network{Graph: g, Epoch: epoch, key: key, ports: g.Ports(), arcs: make([]inpacket.Codeword, 2*len(g.Links))}
	for a := range n.arcs {
		n.arcs[a] = n.ArcKey(topology.Arc(a)).Codeword(epoch)
	}
	return n
}

// ArcKey returns the key of an arc: the network's key derives it from the names of
// the nodes it leads from and to, each followed by a zero byte.
func (n *Network) ArcKey(a topology.Arc) inpacket.Key {
	from, to := n.Graph.Ends(a)
	label := append([]byte(n.Graph.Nodes[from].Name), 0)
	label = append(append(label, n.Graph.Nodes[to].Name...), 0)
	return n.key.Derive(label)
}

// Codeword returns the codeword of an arc in the network's epoch.
func (n *Network) Codeword(a topology.Arc) inpacket.Codeword { return n.arcs[a] }

// Ports returns the ports of a node; don't change them.
func (n *Network) Ports(node int) []topology.Port { return n.ports[node] }

// set is a set of a node's ports, a bit each.
type set []uint64

func (s set) has(p int) bool { return p >= 0 && p < 64*len(s) && s[p>>6]>>(p&63)&1 == 1 }

func (s set) remove(p int) {
	if p >= 0 && p < 64*len(s) {
		s[p>>6] &^= 1 << (p & 63)
	}
}

func (s set) len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// all gives the ports in order.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// shared is a set that one goroutine reads while others change it.
type shared []atomic.Uint64

func (s shared) put(p int, in bool) {
	bit := uint64(1) << (p & 63)
	if in {
		s[p>>6].Or(bit)
	} else {
		s[p>>6].And(^bit)
	}
}

func (s shared) has(p int) bool { return s[p>>6].Load()>>(p&63)&1 == 1 }

// Host is the port on which a packet comes in from the node's own host.
const Host = -1

// Router decides, at one node, where packets go. It belongs to one goroutine.
type Router interface {
	// Route decides on the packet b that came in on a port, or from Host, and
	// appends a Copy for each port that it goes out on. It may change b, and the
	// copies may share b or memory of the router's: they are valid until the next
	// call. Whatever is wrong with b is said by the verdict: Route doesn't panic.
	Route(dst []Copy, b []byte, in int) ([]Copy, Verdict)
}

// Copy is a packet on its way out.
type Copy struct {
	Port   int // index of the link among those of the node, see topology.Graph.Ports
	Packet []byte
}

// Verdict is what a router says of one packet.
type Verdict struct {
	Deliver bool   // to the node's own host
	Drop    Reason // why no copy was made, if that is a fault; None otherwise
}

// Task returns what a header for a tree must hold, and what it must not: the
// codewords of the tree's arcs, and of the arcs next to it that routers test, by hop.
// The header's TTL is the tree's depth, so that its deepest nodes test nothing.
func (n *Network) Task(t *tree.Tree) inpacket.Task {
	task := inpacket.Task{Tree: make([][]inpacket.Codeword, t.Depth())}
	for _, s := range t.Steps {
		task.Tree[s.Hop] = append(task.Tree[s.Hop], n.Codeword(s.Arc))
	}
	for _, arcs := range t.Adjacent() {
		task.Others = append(task.Others, n.codewords(arcs))
	}
	return task
}

// SlackTask is Task for a header whose TTL is above the tree's depth: the deepest
// nodes test their arcs too, at a hop that no arc of the tree has.
func (n *Network) SlackTask(t *tree.Tree) inpacket.Task {
	task := n.Task(t)
	task.Others = append(task.Others, n.codewords(t.Fringe()))
	return task
}

func (n *Network) codewords(arcs []topology.Arc) []inpacket.Codeword {
	cs := make([]inpacket.Codeword, len(arcs))
	for i, a := range arcs {
		cs[i] = n.Codeword(a)
	}
	return cs
}
