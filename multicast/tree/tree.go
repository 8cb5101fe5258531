// Package tree finds trees in topologies: the links that a packet takes from its source
// to its receivers.
package tree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// Tree is the path of a packet from its source to its receivers: a set of arcs, exactly
// one of which leads to each node of the tree except the source. Steps are sorted by hop,
// then by arc. A tree is immutable and safe for concurrent use.
type Tree struct {
	Graph     *topology.Graph
	Source    int
	Receivers []int // sorted, without repetitions and without the source
	Steps     []Step
}

// Step is an arc of a tree.
type Step struct {
	Arc topology.Arc
	Hop int // number of arcs before it on the path from the source
}

func (t *Tree) sort() {
	slices.SortFunc(t.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(a.Arc, b.Arc))
	})
}

// Depth returns the number of arcs of the longest path from the source.
func (t *Tree) Depth() int {
	depth := 0
	for _, s := range t.Steps {
		depth = max(depth, s.Hop+1)
	}
	return depth
}

// Nodes returns the nodes of the tree: the source, then the others in the order of the
// steps that lead to them.
func (t *Tree) Nodes() []int {
	nodes := make([]int, 1, len(t.Steps)+1)
	nodes[0] = t.Source
	for _, s := range t.Steps {
		_, to := t.Graph.Ends(s.Arc)
		nodes = append(nodes, to)
	}
	return nodes
}

// Cost returns the sum of the costs of the tree's links by a metric.
func (t *Tree) Cost(m Metric) float64 {
	sum := 0.0
	for _, s := range t.Steps {
		sum += m.of(t.Graph.Links[s.Arc.Link()])
	}
	return sum
}

// Check returns an error wrapping umbel.ErrGoal unless the tree is valid: each step leads from a node that an
// earlier step reached, at the next hop, to a node that no other step reaches; receivers
// are sorted and reached; and each branch ends at a receiver.
func (t *Tree) Check() error {
	n := len(t.Graph.Nodes)
	if t.Source < 0 || t.Source >= n {
		return fmt.Errorf("%w: source %d, the graph has nodes 0 to %d", ErrNode, t.Source, n-1)
	}
	depth := map[int]int{t.Source: 0}
	leaves := map[int]bool{}
	for i, s := range t.Steps {
		if s.Arc < 0 || s.Arc.Link() >= len(t.Graph.Links) {
			return sentinel.Errorf(umbel.ErrGoal, "step %d: arc %d, the graph has arcs 0 to %d", i, s.Arc, 2*len(t.Graph.Links)-1)
		}
		from, to := t.Graph.Ends(s.Arc)
		hop, ok := depth[from]
		if !ok || hop != s.Hop {
			return sentinel.Errorf(umbel.ErrGoal, "step %d from node %d at hop %d, which no earlier step reaches at that hop", i, from, s.Hop)
		}
		if _, ok := depth[to]; ok {
			return sentinel.Errorf(umbel.ErrGoal, "step %d reaches node %d a second time", i, to)
		}
		depth[to] = hop + 1
		delete(leaves, from)
		leaves[to] = true
	}
	if len(t.Receivers) == 0 {
		return ErrNoReceivers
	}
	for i, r := range t.Receivers {
		if _, ok := depth[r]; !ok || r == t.Source {
			return sentinel.Errorf(umbel.ErrGoal, "receiver %d is the source or not in the tree", r)
		}
		if i > 0 && t.Receivers[i-1] >= r {
			return sentinel.Errorf(umbel.ErrGoal, "receiver %d after %d, want them sorted", r, t.Receivers[i-1])
		}
		delete(leaves, r)
	}
	for leaf := range leaves {
		return sentinel.Errorf(umbel.ErrGoal, "a branch ends at node %d, which is not a receiver", leaf)
	}
	return nil
}

// Metric is the cost of links by which paths are shortest.
type Metric uint8

const (
	Hops    Metric = iota // each link costs 1
	Weights               // each link costs its weight
)

// String returns "hops" or "weights".
func (m Metric) String() string {
	if m == Hops {
		return "hops"
	}
	return "weights"
}

// of returns the cost of a link.
func (m Metric) of(l topology.Link) float64 {
	if m == Hops {
		return 1
	}
	return l.Weight
}

var (
	// ErrNode means that a source or receiver is not a node of the graph.
	ErrNode = errors.New("no such node")
	// ErrNoReceivers means that there is no receiver other than the source.
	ErrNoReceivers = errors.New("no receivers")
	// ErrDisconnected means that there is no path to a receiver.
	ErrDisconnected = errors.New("graph not connected")
)

// Adjacent returns the arcs next to the tree, by the hop at which a router tests them.
// For each node, at the hop of its own steps, these are all outward arcs except those of
// the tree and the arc back to where the packet came from. There are Depth hops: if the
// TTL at the source is Depth, a packet arrives at the deepest nodes with no TTL left, and
// they test no arcs. Fringe returns their arcs.
func (t *Tree) Adjacent() [][]topology.Arc {
	all := t.around()
	return all[:len(all)-1]
}

// Fringe returns the outward arcs of the deepest nodes, which are tested only if the TTL
// is greater than the tree's depth.
func (t *Tree) Fringe() []topology.Arc {
	all := t.around()
	return all[len(all)-1]
}

// around returns the arcs next to the tree by hop, one hop more than the depth.
func (t *Tree) around() [][]topology.Arc {
	all := make([][]topology.Arc, t.Depth()+1)
	after := make([]int, len(t.Graph.Nodes)) // the node's hop plus 1, 0 outside the tree
	taken := make([]bool, len(t.Graph.Links))
	after[t.Source] = 1
	for _, s := range t.Steps {
		_, to := t.Graph.Ends(s.Arc)
		after[to] = s.Hop + 2
		taken[s.Arc.Link()] = true
	}
	for i, l := range t.Graph.Links {
		if taken[i] { // one direction is in the tree, the other leads back
			continue
		}
		if h := after[l.A]; h > 0 {
			all[h-1] = append(all[h-1], topology.ArcOf(i, false))
		}
		if h := after[l.B]; h > 0 {
			all[h-1] = append(all[h-1], topology.ArcOf(i, true))
		}
	}
	return all
}
