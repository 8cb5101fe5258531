package tree

import (
	"slices"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// Backup returns the way with the fewest arcs from where an arc comes from to where it
// leads, without its link: what a packet takes when the link has failed. It reports
// false if there is none, the link being the only way, or no such arc.
func Backup(g *topology.Graph, a topology.Arc) ([]topology.Arc, bool) {
	return NewFinder(g, Hops).Backup(a)
}

// Backup is the function of this name, by the finder's metric. What it finds isn't
// kept.
func (f *Finder) Backup(a topology.Arc) ([]topology.Arc, bool) {
	if a < 0 || a.Link() >= len(f.graph.Links) {
		return nil, false
	}
	from, to := f.graph.Ends(a)
	w := waysFrom(f.graph, f.ports, f.metric, []int{from}, func(b topology.Arc) bool { return b.Link() == a.Link() })
	if w.rank[to] < 0 {
		return nil, false
	}
	var way []topology.Arc
	for to != from {
		last := w.into(to)[0]
		way = append(way, last)
		to, _ = f.graph.Ends(last)
	}
	slices.Reverse(way)
	return way, true
}
