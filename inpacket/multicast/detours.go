package multicast

import (
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Keys returns what a node of the network knows of its links in the network's epoch:
// their codewords, and no way around them.
func (n *Network) Keys(node int) Keys {
	k := Keys{Epoch: n.Epoch, Ports: make([]inpacket.Codeword, len(n.ports[node]))}
	for i, p := range n.ports[node] {
		k.Ports[i] = n.Codeword(p.Arc)
	}
	return k
}

// Detours returns the ways around the ports of a node, for [Keys.Detours]: those with
// the lowest cost by the metric of f, a finder of the network's graph.
func (n *Network) Detours(node int, f *tree.Finder) []Detour {
	detours := make([]Detour, len(n.ports[node]))
	for i, p := range n.ports[node] {
		way, ok := f.Backup(p.Arc)
		if !ok {
			continue
		}
		d := Detour{Hops: len(way), Arcs: n.codewords(way)}
		for j, q := range n.ports[node] {
			if q.Arc == way[0] {
				d.Port = j
			}
		}
		detours[i] = d
	}
	return detours
}
