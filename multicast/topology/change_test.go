package topology_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// must returns the graph of a rule that can't fail for its size.
func must(t testing.TB, g *topology.Graph, err error) *topology.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func grid(t testing.TB, rows, columns int) *topology.Graph {
	g, err := topology.Grid(rows, columns)
	return must(t, g, err)
}

func TestWithout(t *testing.T) {
	g := grid(t, 2, 2)
	before := slices.Clone(g.Links)
	left := g.Without([]int{1, 1, 99, -1})
	if want := slices.Delete(slices.Clone(before), 1, 2); !slices.Equal(left.Links, want) {
		t.Errorf("left are %v, want %v", left.Links, want)
	}
	if !slices.Equal(g.Links, before) || len(left.Nodes) != 4 {
		t.Errorf("the graph itself has changed, or has lost nodes")
	}
}

func TestWith(t *testing.T) {
	g := grid(t, 2, 2)
	more, err := g.With([]topology.Link{{A: 3, B: 0, Weight: 7}})
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := more.Between(3, 0); !ok || more.Links[a.Link()] != (topology.Link{A: 0, B: 3, Weight: 7}) || a&1 != 1 {
		t.Errorf("arc %d, %v in %v, want link 0 to 3, backward", a, ok, more.Links)
	}
	if _, ok := g.Between(0, 3); ok {
		t.Error("the graph itself has changed")
	}
	for _, bad := range []topology.Link{
		{A: 0, B: 1, Weight: 1}, {A: 1, B: 0, Weight: 1}, {A: 2, B: 2, Weight: 1}, {A: -1, B: 1, Weight: 1},
		{A: 1, B: 4, Weight: 1}, {A: 0, B: 3, Weight: 0}, {A: 0, B: 3, Weight: math.NaN()}, {A: 0, B: 3, Weight: math.Inf(1)},
	} {
		if _, err := g.With([]topology.Link{bad}); !errors.Is(err, topology.ErrChange) {
			t.Errorf("with %v: error %v, want ErrChange", bad, err)
		}
	}
	if _, err := g.With([]topology.Link{{A: 0, B: 3, Weight: 1}, {A: 3, B: 0, Weight: 1}}); !errors.Is(err, topology.ErrChange) {
		t.Errorf("one link twice: error %v, want ErrChange", err)
	}
}

func TestFailTogether(t *testing.T) {
	g := grid(t, 6, 7)
	spare := len(g.Links) - (len(g.Nodes) - 1)
	for seed := range uint64(20) {
		for _, n := range []int{0, 1, spare / 2, spare} {
			failed, err := g.Fail(n, seed, true)
			if err != nil {
				t.Fatal(err)
			}
			left := g.Without(failed)
			if len(left.Links) != len(g.Links)-n || !left.Connected() || !slices.IsSorted(failed) {
				t.Fatalf("seed %d: %d failed, %d of %d links left, connected %v", seed, n, len(left.Links), len(g.Links), left.Connected())
			}
			again, err := g.Fail(n, seed, true)
			if err != nil || !slices.Equal(failed, again) {
				t.Fatalf("seed %d: %v, then %v, %v", seed, failed, again, err)
			}
		}
	}
	for _, n := range []int{-1, spare + 1} {
		if _, err := g.Fail(n, 1, true); !errors.Is(err, topology.ErrChange) {
			t.Errorf("%d links: error %v, want ErrChange", n, err)
		}
	}
}

func TestFailAny(t *testing.T) {
	g := grid(t, 3, 3)
	cut := 0
	for seed := range uint64(50) {
		failed, err := g.Fail(6, seed, false)
		if err != nil {
			t.Fatal(err)
		}
		left := g.Without(failed)
		if len(left.Links) != len(g.Links)-6 {
			t.Fatalf("%d links left of %d", len(left.Links), len(g.Links))
		}
		if !left.Connected() {
			cut++
		}
	}
	if cut == 0 {
		t.Error("six links of a grid of nine failed 50 times and never cut it")
	}
	for _, n := range []int{-1, len(g.Links) + 1} {
		if _, err := g.Fail(n, 1, false); !errors.Is(err, topology.ErrChange) {
			t.Errorf("%d links: error %v, want ErrChange", n, err)
		}
	}
}

func TestGrow(t *testing.T) {
	g := grid(t, 6, 7)
	ports := g.Ports()
	for seed := range uint64(20) {
		grown, err := g.Grow(12, seed)
		if err != nil {
			t.Fatal(err)
		}
		more, err := g.With(grown)
		if err != nil {
			t.Fatal(err)
		}
		if len(more.Links) != len(g.Links)+12 {
			t.Fatalf("%d links, want 12 more than %d", len(more.Links), len(g.Links))
		}
		for _, l := range grown {
			common := slices.ContainsFunc(ports[l.A], func(p topology.Port) bool {
				_, ok := g.Between(p.Neighbor, l.B)
				return ok
			})
			if !common {
				t.Errorf("nodes %d and %d aren't two links apart", l.A, l.B)
			}
		}
		again, err := g.Grow(12, seed)
		if err != nil || !slices.Equal(grown, again) {
			t.Fatalf("seed %d: %v, then %v, %v", seed, grown, again, err)
		}
	}
	triangle, err := topology.Ring(3)
	if _, err := must(t, triangle, err).Grow(1, 1); !errors.Is(err, topology.ErrChange) {
		t.Errorf("a triangle grows: error %v, want ErrChange", err)
	}
	if _, err := g.Grow(-1, 1); !errors.Is(err, topology.ErrChange) {
		t.Errorf("-1 links: error %v, want ErrChange", err)
	}
	if grown, err := (&topology.Graph{}).Grow(0, 1); err != nil || len(grown) != 0 {
		t.Errorf("nothing grows to %v, %v", grown, err)
	}
}

func TestComponents(t *testing.T) {
	g := &topology.Graph{Name: "parts", Nodes: make([]topology.Node, 7), Links: []topology.Link{{5, 6, 1}, {1, 3, 1}, {4, 5, 2}}}
	for i := range g.Nodes {
		g.Nodes[i].Name = string(rune('a' + i))
	}
	part, sizes := g.Components()
	if !slices.Equal(part, []int{0, 1, 2, 1, 3, 3, 3}) || !slices.Equal(sizes, []int{1, 2, 1, 3}) {
		t.Errorf("parts %v of sizes %v", part, sizes)
	}
	c := g.LargestComponent()
	if len(c.Nodes) != 3 || c.Nodes[0].Name != "e" || !slices.Equal(c.Links, []topology.Link{{1, 2, 1}, {0, 1, 2}}) {
		t.Errorf("the largest component is %+v", c)
	}
	if g.Connected() || !c.Connected() || c.LargestComponent() != c || !(&topology.Graph{}).Connected() {
		t.Error("connected isn't what it should be")
	}
}
