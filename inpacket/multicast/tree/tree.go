// Package tree finds trees over topologies: which links a packet takes from its
// source to its receivers.
package tree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// Tree is the way of a packet from its source to its receivers: a set of arcs, of
// which exactly one leads to each node of the tree but the source. Steps are sorted by
// hop, then by arc. A tree isn't changed, and may be used by any number of goroutines.
type Tree struct {
	Graph     *topology.Graph
	Source    int
	Receivers []int // sorted, each once, without the source
	Steps     []Step
}

// Step is an arc of a tree.
type Step struct {
	Arc topology.Arc
	Hop int // how many arcs come before it on the way from the source
}

func (t *Tree) sort() {
	slices.SortFunc(t.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(a.Arc, b.Arc))
	})
}

// Depth returns the number of arcs on the longest way from the source.
func (t *Tree) Depth() int {
	depth := 0
	for _, s := range t.Steps {
		depth = max(depth, s.Hop+1)
	}
	return depth
}

// Nodes returns the tree's nodes: the source, then others in the order of the steps
// that lead to them.
func (t *Tree) Nodes() []int {
	nodes := make([]int, 1, len(t.Steps)+1)
	nodes[0] = t.Source
	for _, s := range t.Steps {
		_, to := t.Graph.Ends(s.Arc)
		nodes = append(nodes, to)
	}
	return nodes
}

// Cost returns the sum of the tree's links by a metric.
func (t *Tree) Cost(m Metric) float64 {
	sum := 0.0
	for _, s := range t.Steps {
		sum += m.of(t.Graph.Links[s.Arc.Link()])
	}
	return sum
}

// Check returns an error unless the tree keeps its promises: each step goes out from
// a node that an earlier one came to, at the hop after it, to a node that none came
// to; receivers are sorted, and reached; and each way ends at a receiver.
func (t *Tree) Check() error {
	n := len(t.Graph.Nodes)
	if t.Source < 0 || t.Source >= n {
		return fmt.Errorf("%w: source %d, the graph has nodes 0 to %d", ErrNode, t.Source, n-1)
	}
	depth := map[int]int{t.Source: 0}
	leaves := map[int]bool{}
	for i, s := range t.Steps {
		if s.Arc < 0 || s.Arc.Link() >= len(t.Graph.Links) {
			return fmt.Errorf("tree: step %d: arc %d, the graph has arcs 0 to %d", i, s.Arc, 2*len(t.Graph.Links)-1)
		}
		from, to := t.Graph.Ends(s.Arc)
		hop, ok := depth[from]
		if !ok || hop != s.Hop {
			return fmt.Errorf("tree: step %d from node %d at hop %d, which no earlier step comes to there", i, from, s.Hop)
		}
		if _, ok := depth[to]; ok {
			return fmt.Errorf("tree: step %d comes to node %d a second time", i, to)
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
			return fmt.Errorf("tree: receiver %d is the source or not in the tree", r)
		}
		if i > 0 && t.Receivers[i-1] >= r {
			return fmt.Errorf("tree: receiver %d after %d, want them sorted", r, t.Receivers[i-1])
		}
		delete(leaves, r)
	}
	for leaf := range leaves {
		return fmt.Errorf("tree: a way ends at node %d, which receives nothing", leaf)
	}
	return nil
}

// Metric is what makes a way short.
type Metric uint8

const (
	Hops    Metric = iota // the number of links
	Weights               // the sum of the links' weights
)

// String returns the metric in a word.
func (m Metric) String() string {
	if m == Hops {
		return "hops"
	}
	return "weights"
}

// of returns what a link adds to a way.
func (m Metric) of(l topology.Link) float64 {
	if m == Hops {
		return 1
	}
	return l.Weight
}

var (
	// ErrNode is wrapped when a source or receiver is no node of the graph.
	ErrNode = errors.New("tree: no such node")
	// ErrNoReceivers is wrapped when nobody but the source is to receive.
	ErrNoReceivers = errors.New("tree: no receivers")
	// ErrDisconnected is wrapped when there is no way to a receiver.
	ErrDisconnected = errors.New("tree: graph not connected")
)

// Adjacent returns the arcs next to the tree, by the hop at which a router tests
// them: of each node, at the hop that its own steps have, all arcs outward but the
// tree's and the one back to where the packet came from. There are Depth hops: to
// the deepest nodes a packet comes with its TTL used up, if that is Depth at the
// source, so that they test nothing. Their arcs are Fringe.
func (t *Tree) Adjacent() [][]topology.Arc {
	all := t.around()
	return all[:len(all)-1]
}

// Fringe returns the arcs outward of the deepest nodes: tested only by a packet whose
// TTL is above the tree's depth.
func (t *Tree) Fringe() []topology.Arc {
	all := t.around()
	return all[len(all)-1]
}

// around returns the arcs next to the tree by hop, one more than the depth.
func (t *Tree) around() [][]topology.Arc {
	all := make([][]topology.Arc, t.Depth()+1)
	after := make([]int, len(t.Graph.Nodes)) // 1 more than the node's hop, 0 outside the tree
	taken := make([]bool, len(t.Graph.Links))
	after[t.Source] = 1
	for _, s := range t.Steps {
		_, to := t.Graph.Ends(s.Arc)
		after[to] = s.Hop + 2
		taken[s.Arc.Link()] = true
	}
	for i, l := range t.Graph.Links {
		if taken[i] { // one way by the tree, the other way back
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
