package topology_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

func TestMadeByRule(t *testing.T) {
	for _, test := range []struct {
		name                      string
		make                      func() (*topology.Graph, error)
		nodes, links, least, most int // links in all, and of a node
	}{
		{"line", func() (*topology.Graph, error) { return topology.Line(9) }, 9, 8, 1, 2},
		{"ring", func() (*topology.Graph, error) { return topology.Ring(9) }, 9, 9, 2, 2},
		{"star", func() (*topology.Graph, error) { return topology.Star(9) }, 9, 8, 1, 8},
		{"grid", func() (*topology.Graph, error) { return topology.Grid(4, 5) }, 20, 31, 2, 4},
		{"row", func() (*topology.Graph, error) { return topology.Grid(1, 5) }, 5, 4, 1, 2},
		{"fat tree of 2", func() (*topology.Graph, error) { return topology.FatTree(2) }, 7, 6, 1, 2},
		{"fat tree of 4", func() (*topology.Graph, error) { return topology.FatTree(4) }, 36, 48, 1, 4},
		{"fat tree of 8", func() (*topology.Graph, error) { return topology.FatTree(8) }, 208, 384, 1, 8},
		{"waxman, dense", func() (*topology.Graph, error) { return topology.Waxman(100, 0.4, 0.3, 1) }, 100, 663, 5, 23},
		{"waxman, of parts", func() (*topology.Graph, error) { return topology.Waxman(100, 0.02, 0.1, 1) }, 100, 99, 1, 6},
		{"barabási-albert of 1", func() (*topology.Graph, error) { return topology.BarabasiAlbert(100, 1, 1) }, 100, 99, 1, 11},
		{"barabási-albert of 3", func() (*topology.Graph, error) { return topology.BarabasiAlbert(100, 3, 1) }, 100, 291, 1, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := test.make()
			if err != nil {
				t.Fatal(err)
			}
			d := g.Degrees()
			if len(g.Nodes) != test.nodes || len(g.Links) != test.links || slices.Min(d) != test.least || slices.Max(d) != test.most {
				t.Errorf("%d nodes, %d links, %d to %d at a node, want %d, %d, %d to %d", len(g.Nodes), len(g.Links),
					slices.Min(d), slices.Max(d), test.nodes, test.links, test.least, test.most)
			}
			if !g.Connected() {
				t.Error("not connected")
			}
			checkGraph(t, g)
			places := map[[2]float64]bool{}
			for i, n := range g.Nodes {
				if !n.Placed || places[[2]float64{n.X, n.Y}] {
					t.Errorf("node %d %q isn't placed, or where another is", i, n.Name)
				}
				places[[2]float64{n.X, n.Y}] = true
			}
			if again, err := test.make(); err != nil || !reflect.DeepEqual(g, again) {
				t.Error("not the same a second time")
			}
		})
	}
}

// checkGraph checks the guarantees in the documentation of Graph.
func checkGraph(t testing.TB, g *topology.Graph) {
	t.Helper()
	names := map[string]bool{}
	for i, n := range g.Nodes {
		if n.Name == "" || names[n.Name] {
			t.Errorf("node %d: name %q is empty or not unique", i, n.Name)
		}
		names[n.Name] = true
		if math.IsNaN(n.X+n.Y) || math.IsInf(n.X, 0) || math.IsInf(n.Y, 0) || !n.Placed && (n.X != 0 || n.Y != 0) {
			t.Errorf("node %d: placed at %v, %v", i, n.X, n.Y)
		}
	}
	pairs := map[[2]int]bool{}
	for i, l := range g.Links {
		if l.A < 0 || l.A >= l.B || l.B >= len(g.Nodes) || pairs[[2]int{l.A, l.B}] || !(l.Weight > 0) || math.IsInf(l.Weight, 1) {
			t.Errorf("link %d: %+v", i, l)
		}
		pairs[[2]int{l.A, l.B}] = true
	}
}

func TestSizesThatAreNone(t *testing.T) {
	for name, build := range map[string]func() (*topology.Graph, error){
		"line of 1":                 func() (*topology.Graph, error) { return topology.Line(1) },
		"line of -1":                func() (*topology.Graph, error) { return topology.Line(-1) },
		"long line":                 func() (*topology.Graph, error) { return topology.Line(10_001) },
		"ring of 2":                 func() (*topology.Graph, error) { return topology.Ring(2) },
		"star of 1":                 func() (*topology.Graph, error) { return topology.Star(1) },
		"grid of nothing":           func() (*topology.Graph, error) { return topology.Grid(0, 5) },
		"grid of 1":                 func() (*topology.Graph, error) { return topology.Grid(1, 1) },
		"grid whose product wraps":  func() (*topology.Graph, error) { return topology.Grid(1<<16, 1<<16) },
		"large grid":                func() (*topology.Graph, error) { return topology.Grid(101, 100) },
		"fat tree of 3":             func() (*topology.Graph, error) { return topology.FatTree(3) },
		"fat tree of 0":             func() (*topology.Graph, error) { return topology.FatTree(0) },
		"fat tree of 34":            func() (*topology.Graph, error) { return topology.FatTree(34) },
		"waxman of 1":               func() (*topology.Graph, error) { return topology.Waxman(1, 1, 1, 1) },
		"waxman without alpha":      func() (*topology.Graph, error) { return topology.Waxman(9, 0, 1, 1) },
		"waxman of no beta":         func() (*topology.Graph, error) { return topology.Waxman(9, 1, math.NaN(), 1) },
		"waxman of too many links":  func() (*topology.Graph, error) { return topology.Waxman(2000, 1, 1, 1) },
		"barabási-albert of 1":      func() (*topology.Graph, error) { return topology.BarabasiAlbert(1, 1, 1) },
		"barabási-albert of no m":   func() (*topology.Graph, error) { return topology.BarabasiAlbert(9, 0, 1) },
		"barabási-albert of m = n":  func() (*topology.Graph, error) { return topology.BarabasiAlbert(9, 9, 1) },
		"barabási-albert, too many": func() (*topology.Graph, error) { return topology.BarabasiAlbert(10_000, 100, 1) },
	} {
		if _, err := build(); !errors.Is(err, topology.ErrSize) {
			t.Errorf("%s: error %v, want ErrSize", name, err)
		}
	}
}
