package tree

import "github.com/umbel-filters/umbel/inpacket/multicast/topology"

// Tree is the way of a packet from its source to its receivers: a set of arcs, of
// which exactly one leads to each node of the tree but the source.
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

// Depth returns the number of arcs on the longest way from the source.
func (t *Tree) Depth() int {
	depth := 0
	for _, s := range t.Steps {
		depth = max(depth, s.Hop+1)
	}
	return depth
}
