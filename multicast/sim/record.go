package sim

import (
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Record is the result of the packets of one tree. Each copy is of one of four kinds:
// Copies = Covered + Near + Far + Repeats.
type Record struct {
	Headers int           `json:"headers"` // packets sent by the source, one in most schemes
	Bits    int           `json:"bits"`    // of the plan
	Bytes   int           `json:"bytes"`   // of all headers
	Form    string        `json:"form"`    // of the plan
	Search  time.Duration `json:"searchNs"`

	TreeLinks int `json:"treeLinks"`  // arcs of the tree; with OwnPaths, arcs by which receivers were first reached
	Copies    int `json:"copies"`     // packets put on links, including those lost on links that are down
	Covered   int `json:"covered"`    // arcs of the tree that carried a copy
	Near      int `json:"falseNear"`  // false forwards next to the tree: copies off the tree of a packet that followed it
	Far       int `json:"falseFar"`   // false forwards off the tree that others caused
	Repeats   int `json:"repeats"`    // copies on arcs of the tree that had already carried one
	Lost      int `json:"lostCopies"` // copies on links that are down

	Loops      int  `json:"loops"`      // arcs that carried the same packet more than once
	Duplicates int  `json:"duplicates"` // arrivals of a packet at nodes that already had it
	Storm      bool `json:"storm"`      // there were too many copies, and the rest were discarded
	Hops       int  `json:"hops"`       // links of the longest path of a copy

	Receivers int                    `json:"receivers"`      // of the tree
	Reached   int                    `json:"reached"`        // receivers that got the packet
	Twice     int                    `json:"deliveredTwice"` // deliveries to receivers that already had it
	Wrong     int                    `json:"deliveredWrong"` // deliveries to nodes that aren't receivers
	Drops     [multicast.Reasons]int `json:"-"`              // packets dropped by routers, by reason
}

// FalseForwards returns the number of copies on arcs that aren't of the tree.
func (r *Record) FalseForwards() int { return r.Near + r.Far }

// Efficiency returns the number of the tree's arcs that carried a copy divided by the
// number of all copies, in [0, 1]: the forwarding efficiency of Jokela et al. 2009 if
// nothing is lost. It is 1 if there were no copies.
func (r *Record) Efficiency() float64 {
	if r.Copies == 0 {
		return 1
	}
	return float64(r.Covered) / float64(r.Copies)
}

// StormFactor returns the number of copies per arc of the tree, or 0 if it has none.
func (r *Record) StormFactor() float64 {
	if r.TreeLinks == 0 {
		return 0
	}
	return float64(r.Copies) / float64(r.TreeLinks)
}

// count fills the record from the hops.
func (w *Fabric) count(r *Record, t *tree.Tree, o Options) {
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

// deliveries counts the routers' verdicts and the deliveries.
func (w *Fabric) deliveries(r *Record) {
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

// forwards counts the copies by kind, and marks the hops off the tree.
func (w *Fabric) forwards(r *Record) {
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
		h.offTree = !w.inTree[h.arc]
		h.detoured = h.offTree || before
		switch {
		case h.offTree && before:
			r.Far++
		case h.offTree:
			r.Near++
		case w.covered[h.arc]:
			r.Repeats++
		default:
			r.Covered++
			w.covered[h.arc] = true
		}
	}
}

// markPaths marks the arcs by which receivers were first reached, and returns their
// number.
func (w *Fabric) markPaths() int {
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
func (w *Fabric) markTree(t *tree.Tree) {
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

// arcBetween returns the arc from one node to another.
func (w *Fabric) arcBetween(from, to int) (topology.Arc, bool) {
	for _, p := range w.network.Ports(from) {
		if p.Neighbor == to {
			return p.Arc, true
		}
	}
	return nowhere, false
}
