package graphs

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// toGonum returns the graph in gonum, an independent implementation. Its simple graphs keep
// nodes in maps, so that ties are broken at random. Tests compare only what doesn't depend on
// ties: see Finder.Steiner.
func toGonum(g *topology.Graph, metric tree.Metric) *simple.WeightedUndirectedGraph {
	w := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	for v := range g.Nodes {
		w.AddNode(simple.Node(v))
	}
	for _, l := range g.Links {
		cost := 1.0
		if metric == tree.Weights {
			cost = l.Weight
		}
		w.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(l.A), T: simple.Node(l.B), W: cost})
	}
	return w
}

func TestDistancesAreGonums(t *testing.T) {
	for _, g := range networks(t) {
		for _, metric := range []tree.Metric{tree.Hops, tree.Weights} {
			f, judge := tree.NewFinder(g, metric), toGonum(g, metric)
			for from := range g.Nodes {
				shortest := path.DijkstraFrom(simple.Node(from), judge)
				for to := range g.Nodes {
					if got, want := f.Distance(from, to), shortest.WeightTo(int64(to)); got != want {
						t.Fatalf("%s by %v: %v from %d to %d, gonum says %v", g.Name, metric, got, from, to, want)
					}
				}
			}
		}
	}
}

// TestAllReceiversSpan: if all nodes are receivers, Steiner's tree is a minimum spanning tree.
func TestAllReceiversSpan(t *testing.T) {
	for _, g := range networks(t) {
		everyone := make([]int, len(g.Nodes))
		for v := range everyone {
			everyone[v] = v
		}
		for _, metric := range []tree.Metric{tree.Hops, tree.Weights} {
			want := path.Kruskal(simple.NewWeightedUndirectedGraph(0, 0), toGonum(g, metric))
			got, err := tree.Steiner(g, 0, everyone, metric)
			if err != nil {
				t.Fatal(err)
			}
			if got.Cost(metric) != want {
				t.Errorf("%s by %v: costs %v, gonum's spanning tree %v", g.Name, metric, got.Cost(metric), want)
			}
		}
	}
}

// networks returns a graph of each shape.
func networks(t *testing.T) []*topology.Graph {
	t.Helper()
	var graphs []*topology.Graph
	add := func(g *topology.Graph, err error) {
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	add(topology.Line(7))
	add(topology.Ring(9))
	add(topology.Grid(6, 7))
	add(topology.FatTree(4))
	add(topology.Waxman(60, 0.3, 0.3, 1))
	add(topology.BarabasiAlbert(80, 2, 1))
	return graphs
}
