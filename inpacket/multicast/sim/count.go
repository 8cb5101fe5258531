package sim

import (
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// count writes down what is to be seen from the hops that were made.
func (w *Wires) count(r *Record, t *tree.Tree, o Options) {
	clear(w.receives)
	for _, node := range t.Receivers {
		w.receives[node] = true
	}
	w.deliveries(r)
	clear(w.inTree)
	if o.OwnPaths {
		r.TreeLinks = w.markPaths()
	} else {
		r.TreeLinks = len(t.Steps)
		w.markTree(t)
	}
	w.forwards(r)
}

// deliveries counts what routers said, and who got the packets.
func (w *Wires) deliveries(r *Record) {
	clear(w.got)
	for i := range w.hops {
		h := &w.hops[i]
		if h.arc == nowhere {
			clear(w.seen)
		}
		if !h.routed {
			continue
		}
		h.again = w.seen[h.node] > 0
		w.seen[h.node]++
		if h.again {
			r.Duplicates++
		}
		if h.verdict.Drop != multicast.None {
			r.Drops[h.verdict.Drop]++
		}
		if !h.verdict.Deliver {
			continue
		}
		switch {
		case !w.receives[h.node]:
			r.Wrong++
		case w.got[h.node] == 0:
			r.Reached++
			h.reached = true
		default:
			r.Twice++
		}
		w.got[h.node]++
	}
}

// forwards counts the copies by sort, and marks the hops off the tree.
func (w *Wires) forwards(r *Record) {
	clear(w.covered)
	for i := range w.hops {
		h := &w.hops[i]
		if h.arc == nowhere {
			clear(w.carried)
			continue
		}
		r.Copies++
		r.Hops = max(r.Hops, h.level)
		if h.lost {
			r.Lost++
		}
		if w.carried[h.arc]++; w.carried[h.arc] == 2 {
			r.Loops++
		}
		before := w.hops[h.from].detoured
		h.stray = !w.inTree[h.arc]
		h.detoured = h.stray || before
		switch {
		case h.stray && before:
			r.Far++
		case h.stray:
			r.Near++
		case w.covered[h.arc]:
			r.Repeats++
		default:
			r.Covered++
			w.covered[h.arc] = true
		}
	}
}

// markPaths marks the arcs by which receivers were first reached, and returns how
// many they are.
func (w *Wires) markPaths() int {
	arcs := 0
	for i := range w.hops {
		if !w.hops[i].reached {
			continue
		}
		for h := &w.hops[i]; h.arc != nowhere; h = &w.hops[h.from] {
			if !w.inTree[h.arc] {
				w.inTree[h.arc] = true
				arcs++
			}
		}
	}
	return arcs
}

// markTree marks the arcs of a tree that the network has.
func (w *Wires) markTree(t *tree.Tree) {
	for _, s := range t.Steps {
		if t.Graph == w.network.Graph {
			w.inTree[s.Arc] = true
			continue
		}
		from, to := t.Graph.Ends(s.Arc)
		if arc, ok := w.arcBetween(from, to); ok {
			w.inTree[arc] = true
		}
	}
}

// arcBetween returns the arc from a node to another.
func (w *Wires) arcBetween(from, to int) (topology.Arc, bool) {
	for _, p := range w.network.Ports(from) {
		if p.Neighbor == to {
			return p.Arc, true
		}
	}
	return nowhere, false
}
