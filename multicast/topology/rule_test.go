package topology

import (
	"errors"
	"testing"
)

func TestMake(t *testing.T) {
	for _, c := range []struct {
		rule         string
		nodes, links int
	}{
		{"grid:3x4", 12, 17},
		{"ring:7", 7, 7},
		{"line:7", 7, 6},
		{"star:7", 7, 6},
		{"fat-tree:4", 36, 48},
		{"barabasi-albert:50x2", 50, -1},
		{"waxman:100", 100, -1},
	} {
		g, err := Make(c.rule, 1)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if len(g.Nodes) != c.nodes || c.links >= 0 && len(g.Links) != c.links || !g.Connected() {
			t.Errorf("%s: %d nodes, %d links, want %d and %d, connected", c.rule, len(g.Nodes), len(g.Links), c.nodes, c.links)
		}
	}
	a, _ := Make("waxman:60", 1)
	b, _ := Make("waxman:60", 2)
	if len(a.Links) == len(b.Links) && a.Links[0] == b.Links[0] && a.Links[len(a.Links)-1] == b.Links[len(b.Links)-1] {
		t.Error("two seeds gave the same network")
	}
}

func TestMakeRefuses(t *testing.T) {
	for rule, want := range map[string]error{
		"":                     ErrRule,
		"grid":                 ErrRule,
		"grid:6":               ErrRule,
		"grid:6x6x6":           ErrRule,
		"grid:sixxsix":         ErrRule,
		"torus:9":              ErrRule,
		"ring:-5":              ErrSize,
		"fat-tree:3":           ErrSize,
		"grid:1000000x1000000": ErrSize,
		"barabasi-albert:3x3":  ErrSize,
	} {
		g, err := Make(rule, 1)
		if !errors.Is(err, want) || g != nil {
			t.Errorf("%q: got %v, %v; want %v", rule, g, err, want)
		}
	}
}

func TestDistances(t *testing.T) {
	two := &Graph{Nodes: make([]Node, 5), Links: []Link{{0, 1, 1}, {1, 2, 1}, {3, 4, 1}}}
	for _, c := range []struct {
		name string
		g    *Graph
		want Distances
	}{
		{"empty", &Graph{}, Distances{}},
		{"a node", &Graph{Nodes: make([]Node, 1)}, Distances{}},
		{"two parts", two, Distances{2, (1*4 + 2*2 + 1*2) / 8.0}},
	} {
		if got := c.g.Distances(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	g, _ := Make("ring:8", 1)
	if got := g.Distances(); got.Diameter != 4 || got.Mean != (2*(1+2+3)+4)/7.0 {
		t.Errorf("a ring of 8: got %v", got)
	}
}
