package topology

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ErrChange means that a change of a graph is impossible.
var ErrChange = errors.New("no such change")

// Between returns the arc from one node to another, and false if there is no link. It
// takes O(links). Graphs with the same nodes number their links differently, so an arc of
// one graph is found in another by its ends.
func (g *Graph) Between(from, to int) (Arc, bool) {
	a, b := min(from, to), max(from, to)
	i := slices.IndexFunc(g.Links, func(l Link) bool { return l.A == a && l.B == b })
	return ArcOf(i, from > to), i >= 0
}

// Without returns a graph with the same nodes and all links except those with the given
// indexes, in their order. It ignores indexes out of range.
func (g *Graph) Without(links []int) *Graph {
	gone := make(map[int]bool, len(links))
	for _, l := range links {
		gone[l] = true
	}
	left := &Graph{Name: g.Name, Nodes: g.Nodes}
	for i, l := range g.Links {
		if !gone[i] {
			left.Links = append(left.Links, l)
		}
	}
	return left
}

// With returns a graph with the same nodes, its own links and more links after them. It
// returns an error wrapping ErrChange if a link joins unknown nodes, a node to itself, or
// nodes that already have a link, or if its weight is not a finite number above 0.
func (g *Graph) With(links []Link) (*Graph, error) {
	known := g.pairs()
	more := &Graph{Name: g.Name, Nodes: g.Nodes, Links: slices.Clone(g.Links)}
	for _, l := range links {
		l.A, l.B = min(l.A, l.B), max(l.A, l.B)
		switch {
		case l.A < 0 || l.B >= len(g.Nodes):
			return nil, fmt.Errorf("%w: a link of nodes %d and %d, want nodes from 0 to %d", ErrChange, l.A, l.B, len(g.Nodes)-1)
		case l.A == l.B:
			return nil, fmt.Errorf("%w: a link from node %d to itself", ErrChange, l.A)
		case known[[2]int{l.A, l.B}]:
			return nil, fmt.Errorf("%w: nodes %d and %d already have a link", ErrChange, l.A, l.B)
		case !finite(l.Weight) || l.Weight <= 0:
			return nil, fmt.Errorf("%w: weight %v, want a number above 0", ErrChange, l.Weight)
		}
		known[[2]int{l.A, l.B}] = true
		more.Links = append(more.Links, l)
	}
	return more, nil
}

// pairs returns the pairs of nodes that have a link, the lower node first.
func (g *Graph) pairs() map[[2]int]bool {
	pairs := make(map[[2]int]bool, len(g.Links))
	for _, l := range g.Links {
		pairs[[2]int{l.A, l.B}] = true
	}
	return pairs
}

// Fail returns n links that fail, chosen at random by a seed, sorted, for Without. If
// together is set, nodes with a path between them keep one. It returns an error wrapping
// ErrChange if fewer than n links can fail.
func (g *Graph) Fail(n int, seed uint64, together bool) ([]int, error) {
	order := source(seed).Perm(len(g.Links))
	if !together {
		if n < 0 || n > len(order) {
			return nil, fmt.Errorf("%w: %d links to fail, want 0 to %d", ErrChange, n, len(order))
		}
		failed := order[:n]
		slices.Sort(failed)
		return failed, nil
	}
	// The links that join parts, taken from the end of the order, are enough to keep the
	// graph together. All others may fail, and are taken from the beginning of the order.
	var failed []int
	parts := newParts(len(g.Nodes))
	spare := make([]bool, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		l := g.Links[order[i]]
		spare[i] = !parts.join(l.A, l.B)
	}
	for i, l := range order {
		if spare[i] && len(failed) < n {
			failed = append(failed, l)
		}
	}
	if len(failed) < n || n < 0 {
		return nil, fmt.Errorf("%w: %d links to fail without dividing the graph, want at most %d of its %d", ErrChange, n, len(failed), len(g.Links))
	}
	slices.Sort(failed)
	return failed, nil
}

// Grow returns n new links between nodes that are two links apart, chosen at random by a
// seed, for With. A node with many links gets more of them. The weight of a link is that
// of the heavier of the two links that it bypasses. It returns an error wrapping
// ErrChange if it finds fewer than n in 1000·n+10 000 tries.
func (g *Graph) Grow(n int, seed uint64) ([]Link, error) {
	random := source(seed)
	ports, known := g.Ports(), g.pairs()
	var grown []Link
	for try := 0; len(grown) < n && try < 1000*n+10_000 && len(g.Links) > 0; try++ {
		first := Arc(random.IntN(2 * len(g.Links)))
		from, over := g.Ends(first)
		next := ports[over][random.IntN(len(ports[over]))]
		ends := [2]int{min(from, next.Neighbor), max(from, next.Neighbor)}
		if ends[0] == ends[1] || known[ends] {
			continue
		}
		known[ends] = true
		grown = append(grown, Link{ends[0], ends[1], max(g.Links[first.Link()].Weight, g.Links[next.Arc.Link()].Weight)})
	}
	if len(grown) < n || n < 0 {
		return nil, fmt.Errorf("%w: %d links to add, but only %d pairs of nodes two links apart were found", ErrChange, n, len(grown))
	}
	return grown, nil
}

// source returns the random numbers of a seed.
func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x756d62656c)) }
