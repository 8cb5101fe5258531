package tree_test

import (
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TestTowardIsShortest: the arcs to a node form shortest paths with the stated number of arcs,
// and no neighbor with a lower number gives a path as good.
func TestTowardIsShortest(t *testing.T) {
	for _, g := range networks(t) {
		ports := g.Ports()
		for _, m := range []tree.Metric{tree.Hops, tree.Weights} {
			f := tree.NewFinder(g, m)
			cost := func(a topology.Arc) float64 {
				if m == tree.Hops {
					return 1
				}
				return g.Links[a.Link()].Weight
			}
			for to := 0; to < len(g.Nodes); to += 7 {
				arcs, hops := f.Toward(to)
				if arcs[to] != -1 || hops[to] != 0 {
					t.Fatalf("%s: node %d to itself: arc %d, %d hops", g.Name, to, arcs[to], hops[to])
				}
				for v, a := range arcs {
					if v == to {
						continue
					}
					from, next := g.Ends(a)
					if from != v || hops[next] != hops[v]-1 || f.Distance(to, next)+cost(a) != f.Distance(to, v) {
						t.Fatalf("%s by %v: from %d to %d by %d, %d hops, of which the first is to %d", g.Name, m, v, to, a, hops[v], next)
					}
					for _, p := range ports[v] {
						u := p.Neighbor
						if f.Distance(to, u)+cost(p.Arc) == f.Distance(to, v) && (hops[u] < hops[next] || hops[u] == hops[next] && u < next) {
							t.Fatalf("%s by %v: from %d to %d by %d, and %d is as near", g.Name, m, v, to, next, u)
						}
					}
				}
			}
		}
	}
}

func TestTowardInParts(t *testing.T) {
	g := &topology.Graph{Nodes: make([]topology.Node, 4), Links: []topology.Link{{A: 0, B: 1, Weight: 1}, {A: 2, B: 3, Weight: 1}}}
	arcs, hops := tree.NewFinder(g, tree.Hops).Toward(1)
	for v, want := range []struct {
		arc  topology.Arc
		hops int
	}{{0, 1}, {-1, 0}, {-1, -1}, {-1, -1}} {
		if arcs[v] != want.arc || hops[v] != want.hops {
			t.Errorf("node %d: arc %d, %d hops, want %+v", v, arcs[v], hops[v], want)
		}
	}
}
