package multicast

import (
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

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
