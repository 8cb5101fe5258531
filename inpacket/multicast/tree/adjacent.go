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
	hop := make(map[int]int, len(t.Steps)+1) // of the tree's nodes
	barred := make(map[topology.Arc]bool, 2*len(t.Steps))
	hop[t.Source] = 0
	for _, s := range t.Steps {
		_, to := t.Graph.Ends(s.Arc)
		hop[to] = s.Hop + 1
		barred[s.Arc], barred[s.Arc.Reverse()] = true, true
	}
	for l, link := range t.Graph.Links {
		for _, end := range [2]struct {
			node int
			back bool
		}{{link.A, false}, {link.B, true}} {
			a := topology.ArcOf(l, end.back)
			if h, ok := hop[end.node]; ok && !barred[a] {
				all[h] = append(all[h], a)
			}
		}
	}
	return all
}
