package multicast

import (
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Keys returns the keys of a node in the network's epoch: the codewords of its links,
// without detours.
func (n *Network) Keys(node int) Keys {
	k := Keys{Epoch: n.Epoch, Ports: make([]inpacket.Codeword, len(n.ports[node]))}
	for i, p := range n.ports[node] {
		k.Ports[i] = n.Codeword(p.Arc)
	}
	return k
}

// Detours returns the detours around the ports of a node, for [Keys.Detours]: the paths
// with the lowest cost by the metric of f, a finder of the network's graph.
func (n *Network) Detours(node int, f *tree.Finder) []Detour {
	detours := make([]Detour, len(n.ports[node]))
	for i, p := range n.ports[node] {
		path, ok := f.Backup(p.Arc)
		if !ok {
			continue
		}
		d := Detour{Hops: len(path), Arcs: n.codewords(path)}
		for j, q := range n.ports[node] {
			if q.Arc == path[0] {
				d.Port = j
			}
		}
		detours[i] = d
	}
	return detours
}

// Fast repair is the fast recovery of LIPSIN (Jokela et al. 2009). A node whose link is
// down adds a detour around it to the filter of the packet itself, and decides again. No
// signalling is necessary and no state changes. It has these costs:
//
//   - The filter becomes fuller, here and downstream. Links that the sender had excluded
//     may match, and a false match may continue for as long as the TTL lasts. Only long
//     filters tolerate this: see scheme.RepairFalseMatch, which has figures. A filter
//     that would become over-full, or whose false-match rate would exceed the node's
//     limit, would be dropped by the next router; it is left unchanged.
//   - The detour is longer than the link. Nodes after it are reached only if the packet
//     has enough TTL, so senders add slack. A detour longer than the remaining TTL is not
//     added.
//   - A node that is both on the detour and on the tree receives the packet twice, and so
//     may the nodes below it. The far end of the link may receive it on another port than
//     planned, and nobody excluded the arc back to that port's neighbor. Windows of
//     sequence numbers stop the second packet, whichever path it takes.
//   - A detour that begins with the port on which the packet arrived can't be used.

// repaired counts the ports of one packet that are down.
type repaired struct {
	down          int // ports on which a copy would be sent
	made, refused int // detours that were added, and that couldn't be added
}

func (r repaired) count(c *Counters) {
	if r.down != 0 {
		c.down.Add(uint64(r.down))
		c.repairs.Add(uint64(r.made))
		c.unrepaired.Add(uint64(r.refused))
	}
}

// repair adds the detours around all ports of broken to the filter.
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

// detour adds a detour to the filter. If that is impossible it returns false, with the
// filter unchanged.
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
			if h.Or(c) != nil { // Staged and Linear don't support it
				return false
			}
		}
	default:
		return false
	}
	if n.fill(h) != None || n.tooLoose(h) {
		copy(h.Filter, n.before)
		return false
	}
	return true
}
