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

// Fast repair: LIPSIN's (Jokela et al. 2009, where it is called fast recovery). A node that
// finds a link down adds a way around it to the filter of the packet itself, and
// decides again; nothing is signalled and no state changes. What it costs:
//
//   - The filter becomes fuller, here and in all that is behind: links that the
//     sender had ruled out may match, and what goes wrong once may go on for as long
//     as the TTL lasts. Only long filters bear it: see scheme.RepairStray, which has
//     figures. A filter that would become over-full, or looser than the node allows,
//     which the next router would drop, is left as it came.
//   - The way around is longer than the link. What is behind it is reached only if
//     the packet has TTL to spare: the sender gives it slack. A way that is longer
//     than the TTL left is not added.
//   - A node on the way around that is on the tree too gets the packet twice, and so
//     may what is below it. The far end of the link may get it by another port than
//     planned, and the arc back to that port's neighbor was ruled out by nobody.
//     Windows of sequences stop the second packet, wherever it is on its way to.
//   - A way that begins with the port the packet came in on can't be taken.

// repaired is what became of the ports of one packet that are down.
type repaired struct {
	down          int // that would have got a copy
	made, refused int // ways around them
}

func (r repaired) count(c *Counters) {
	if r.down != 0 {
		c.down.Add(uint64(r.down))
		c.repairs.Add(uint64(r.made))
		c.unrepaired.Add(uint64(r.refused))
	}
}

// repair adds to the filter the ways around all ports of broken.
func (n *Node) repair(t *table, broken set, in int) repaired {
	var r repaired
	for p := range broken.all() {
		if len(t.detours) == 0 || t.detours[p].Hops == 0 {
			continue
		}
		d := &t.detours[p]
		if d.Port == in || n.down.has(d.Port) || d.Hops > int(n.header.TTL) || !n.detour(d) {
			r.refused++
			continue
		}
		r.made++
	}
	return r
}

// detour adds a way to the filter, and reports false, with the filter as it was, if
// that can't be done.
func (n *Node) detour(d *Detour) bool {
	h := &n.header
	n.before = append(n.before[:0], h.Filter...)
	switch {
	case h.Form == inpacket.Dense && len(d.Dense) != 0:
		if h.OrDense(d.Dense[h.Seed]) != nil {
			return false
		}
	case h.Form != inpacket.Dense && len(d.Arcs) != 0:
		for _, c := range d.Arcs {
			if h.Or(c) != nil { // Staged and Linear take none
				return false
			}
		}
	default:
		return false
	}
	if n.fill(h) != None || n.loose(h) {
		copy(h.Filter, n.before)
		return false
	}
	return true
}
