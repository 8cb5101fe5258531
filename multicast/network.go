// Package multicast sends packets along trees that are encoded in the packets. Routers
// keep no state of groups: each has a table of its own links.
//
// A [Network] is a topology whose links have keys. Package tree finds trees in it, a
// scheme (package scheme) encodes a tree as a header, and a [Router] at each node decides
// where a packet is sent. Package sim runs a scheme over a network in memory and counts
// errors; package dataplane runs it over sockets.
//
// [Node] is the router for headers of package inpacket. It sends a packet over those of
// its links that the header's filter contains. For protection against forged packets, and
// against networks that differ from what their senders know, it
//
//   - drops packets of an unknown epoch, with TTL 0 or with a filter that is too full,
//     and packets whose TTL or false-match rate is above the limits of its Config, and
//     counts them by [Reason];
//   - never sends a packet back to where it came from, and decrements the TTL;
//   - can remember sequence numbers, so that no packet passes twice ([Config.Window]),
//     and require them, which bounds the effect of every packet ([Config.OnlySequenced]);
//   - can add a detour around a link that is down to the packet itself ([Detour]).
//
// [Node.Explain] returns what a node would do with a packet, and why.
package multicast

import (
	"iter"
	"math/bits"
	"sync/atomic"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Network is a topology whose links have keys, in one epoch. It is immutable and safe for
// concurrent use.
//
// The key of an arc derives from the network's key and the names of the arc's nodes, so
// that a link keeps its key when other links change.
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
		n.arcs[a] = n.arcKey(topology.Arc(a)).Codeword(epoch)
	}
	return n
}

// arcKey returns the key of an arc. It derives from the network's key, with the names of
// the nodes that the arc leads from and to as the label, each followed by a zero byte.
func (n *Network) arcKey(a topology.Arc) inpacket.Key {
	from, to := n.Graph.Ends(a)
	label := append([]byte(n.Graph.Nodes[from].Name), 0)
	label = append(append(label, n.Graph.Nodes[to].Name...), 0)
	return n.key.Derive(label)
}

// Codeword returns the codeword of an arc in the network's epoch.
func (n *Network) Codeword(a topology.Arc) inpacket.Codeword { return n.arcs[a] }

// Ports returns the ports of a node. The caller must not modify them.
func (n *Network) Ports(node int) []topology.Port { return n.ports[node] }

// set is a set of a node's ports, one bit each.
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

// all yields the ports in order.
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

// shared is a set that one goroutine reads while others modify it.
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

// Host is the port of packets from the node's own host.
const Host = -1

// Router decides at one node where packets are sent. It is not safe for concurrent use.
type Router interface {
	// Route decides about the packet b, which arrived on port in, or from Host, and
	// appends a Copy for each port on which it is sent. It may modify b. The copies may
	// share the memory of b or of the router; they are valid until the next call. Errors
	// in b are returned in the verdict; Route doesn't panic.
	Route(dst []Copy, b []byte, in int) ([]Copy, Verdict)
}

// Copy is a packet to be sent.
type Copy struct {
	Port   int // index of the link among those of the node, see topology.Graph.Ports
	Packet []byte
}

// Verdict is the decision about one packet.
type Verdict struct {
	Deliver bool   // whether the node's own host receives the packet
	Drop    Reason // why the packet is dropped; None if it isn't
}

// Task returns the search task for a tree: the codewords of its arcs, which a filter must
// contain, and those of the adjacent arcs that routers test, which it must not match, by
// hop. The header's TTL is the tree's depth, so that the deepest nodes test no arcs.
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

// SlackTask is Task for a header whose TTL is greater than the tree's depth: the deepest
// nodes test their arcs too, at a hop that has no arc of the tree.
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
