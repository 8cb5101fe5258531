package competitors

import (
	"slices"

	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Sizes are the bits that encodings of a tree take which have no routers here: models of two
// drafts, and a list of receivers. Where a draft leaves a choice, the model has the shorter one.
// In both drafts, a router with one neighbor has neither a part nor a length, and the part of
// another router that only receives is empty.
type Sizes struct {
	// RBS are the recursive bit strings of draft-eckert-bier-rbs-00: 24 bits, and for each
	// router that forwards, a bit for itself and for each neighbor, and the lengths of the
	// parts of all neighbors in the tree but the last, 8 bits up to 127 and otherwise 13. -1 if
	// a part has more than 4095 bits.
	RBS int
	// RTS are the recursive tree structures of draft-eckert-pim-rts-forwarding: 8 bits, and the
	// shortest of bit strings of neighbors in whole bytes with lengths of 8 bits, neighbors by
	// numbers of 7 bits and a flag, and routers that branch or receive by numbers of 16 bits. The
	// last two have lengths of 8 bits for all parts at a branch but the last, and none for empty
	// ones.
	RTS int
	// List are the numbers of the receivers, in a network whose routers have tables of all nodes.
	List int
}

// SizesOf returns the sizes of encodings of a tree.
func SizesOf(t *tree.Tree) Sizes {
	w := newBranches(t)
	rbs := -1
	if n, ok := w.rbs(t.Source); ok {
		rbs = 24 + n
	}
	return Sizes{
		RBS: rbs, RTS: 8 + min(w.strings(t.Source), w.neighbors(t.Source), w.routers(t.Source)),
		List: scheme.ListBits(t),
	}
}

// branches are the next nodes of a tree after each node.
type branches struct {
	ports    [][]topology.Port
	next     [][]int
	receives []bool
}

func newBranches(t *tree.Tree) *branches {
	n := len(t.Graph.Nodes)
	w := &branches{t.Graph.Ports(), make([][]int, n), make([]bool, n)}
	for _, s := range t.Steps {
		from, to := t.Graph.Ends(s.Arc)
		w.next[from] = append(w.next[from], to)
	}
	for _, r := range t.Receivers {
		w.receives[r] = true
	}
	return w
}

// rbs returns the bits of the part of a node.
func (w *branches) rbs(node int) (sum int, ok bool) {
	if len(w.next[node]) == 0 {
		return 0, true
	}
	sum = 1 + len(w.ports[node])
	longest := 0
	for _, next := range w.next[node] {
		n, ok := w.rbs(next)
		if !ok || n > 4095 {
			return 0, false
		}
		if len(w.ports[next]) > 1 {
			sum += n + lengthBits(n)
			longest = max(longest, lengthBits(n))
		}
	}
	return sum - longest, true
}

func lengthBits(n int) int {
	if n < 128 {
		return 8
	}
	return 13
}

// strings returns the bits of the part of a node as bit strings in bytes.
func (w *branches) strings(node int) int {
	if len(w.next[node]) == 0 {
		return 0
	}
	sum := (1 + len(w.ports[node]) + 7) / 8 * 8
	for _, next := range w.next[node] {
		if len(w.ports[next]) > 1 {
			sum += 8 + w.strings(next)
		}
	}
	return sum
}

// neighbors returns the bits of the part of a node as numbers of neighbors.
func (w *branches) neighbors(node int) int {
	sum := 8*len(w.next[node]) + w.lengths(w.next[node])
	for _, next := range w.next[node] {
		sum += w.neighbors(next)
	}
	return sum
}

// routers returns the bits of the part of a node as numbers of routers.
func (w *branches) routers(node int) int {
	var named []int // the next nodes that branch or receive
	for _, next := range w.next[node] {
		for !w.receives[next] && len(w.next[next]) == 1 {
			next = w.next[next][0]
		}
		named = append(named, next)
	}
	sum := 16*len(named) + w.lengths(named)
	for _, next := range named {
		sum += w.routers(next)
	}
	return sum
}

// lengths returns the bits of the lengths of the parts of nodes at a branch, without the last.
func (w *branches) lengths(nodes []int) int {
	parts := len(slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return len(w.next[n]) == 0 }))
	return 8 * max(0, parts-1)
}
