package tree

import "github.com/umbel-filters/umbel/inpacket/multicast/topology"

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
