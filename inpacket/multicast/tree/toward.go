package tree

import "github.com/umbel-filters/umbel/inpacket/multicast/topology"

// Toward returns, of each node, the arc with which its shortest way to a node begins, by
// the finder's metric, and the number of arcs of that way: -1 and -1 without a way, -1
// and 0 of the node itself. Of ways that are as short it is that of the fewest arcs, and
// of several arcs then the one to the neighbor of the lowest number.
//
// Whoever follows the arcs gets nearer to the node with each, and never in a circle,
// whatever the rounding of sums does. What it finds isn't kept. It panics if the graph
// hasn't the node.
func (f *Finder) Toward(to int) (arcs []topology.Arc, hops []int) {
	w := waysFrom(f.graph, f.ports, f.metric, []int{to}, nil)
	arcs, hops = make([]topology.Arc, len(f.ports)), make([]int, len(f.ports))
	for v := range arcs {
		arcs[v], hops[v] = -1, -1
	}
	hops[to] = 0
	for _, v := range w.order {
		nearest := -1
		for _, a := range w.into(int(v)) { // a link carries both ways for the same
			u, _ := f.graph.Ends(a)
			if nearest < 0 || hops[u] < hops[nearest] || hops[u] == hops[nearest] && u < nearest {
				nearest, arcs[v], hops[v] = u, a.Reverse(), hops[u]+1
			}
		}
	}
	return arcs, hops
}
