package bier

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func newEngineered(t testing.TB, n *multicast.Network) *TE {
	t.Helper()
	d, err := NewTE(n, n, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPacketsFollowTheTree: in random graphs packets go over the links of the tree, each once,
// and to its receivers, also if sources or receivers are leaves.
func TestPacketsFollowTheTree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fromLeaf, toLeaf := 0, 0
	for range 60 {
		nodes := 2 + r.IntN(150)
		g := randomGraph(r, nodes, r.IntN(nodes))
		n := network(g)
		d := newEngineered(t, n)
		finder := tree.NewFinder(g, tree.Weights)
		for range 5 {
			tr, err := finder.ShortestPath(r.IntN(nodes), pick(r, nodes, 1+r.IntN(min(nodes, 30))))
			if errors.Is(err, tree.ErrNoReceivers) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			headers, bits, err := d.Plan(tr)
			if err != nil {
				t.Fatal(err)
			}
			if len(headers) != 1 || bits != d.BSL() {
				t.Errorf("%d headers, %d bits, want 1 of %d", len(headers), bits, d.BSL())
			}
			j := send(t, n, d.Router, tr.Source, append(headers[0], "payload"...))
			wantOnce(t, j, tr.Receivers)
			var want []topology.Arc
			for _, s := range tr.Steps {
				want = append(want, s.Arc)
			}
			slices.Sort(want)
			slices.Sort(j.arcs)
			if !slices.Equal(j.arcs, want) {
				t.Errorf("copies went over %v, want %v", j.arcs, want)
			}
			if j.drops != [multicast.Reasons]int{} {
				t.Errorf("drops %v", j.drops)
			}
			if d.isLeaf(tr.Source) {
				fromLeaf++
			}
			if slices.ContainsFunc(tr.Receivers, d.isLeaf) {
				toLeaf++
			}
		}
	}
	if fromLeaf == 0 || toLeaf == 0 {
		t.Errorf("%d trees from leaves and %d to leaves: nothing is tested", fromLeaf, toLeaf)
	}
}

// TestAssignedBits: a link has one bit, a node with several links one, and all leaves together
// one.
func TestAssignedBits(t *testing.T) {
	ring := [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}}
	for _, c := range []struct {
		name         string
		g            *topology.Graph
		bits, length int
	}{
		{"ring", graph(4, ring...), 4 + 4, 64},
		{"ring and a leaf", graph(5, append(ring, [2]int{0, 4})...), 5 + 4 + 1, 64},
		{"ring and two leaves", graph(6, append(ring, [2]int{0, 4}, [2]int{0, 5})...), 6 + 4 + 1, 64},
		{"one link", graph(2, [2]int{0, 1}), 1 + 1, 64},
		{"star of 63", star(62), 62 + 1 + 1, 64},
		{"star of 64", star(63), 63 + 1 + 1, 128},
		{"as many as there are", star(4094), 4096, 4096},
	} {
		d := newEngineered(t, network(c.g))
		if d.Bits() != c.bits || d.BSL() != c.length {
			t.Errorf("%s: %d of %d bits, want %d of %d", c.name, d.Bits(), d.BSL(), c.bits, c.length)
		}
	}
	n := network(star(4095))
	if _, err := NewTE(n, n, Options{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("4097 bits: %v, want ErrTooLarge", err)
	}
	n = network(star(63))
	if _, err := NewTE(n, n, Options{MaxBSL: 64}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("65 of 64 bits: %v, want ErrTooLarge", err)
	}
}

// star returns a graph of a hub, node 0, and the given number of leaves.
func star(leaves int) *topology.Graph {
	var links [][2]int
	for i := range leaves {
		links = append(links, [2]int{0, i + 1})
	}
	return graph(leaves+1, links...)
}

func TestTreesThatAreRefused(t *testing.T) {
	g := graph(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3})
	d := newEngineered(t, network(g))
	good := tree.Tree{Graph: g, Source: 0, Receivers: []int{2}, Steps: []tree.Step{{Arc: 0, Hop: 0}, {Arc: 2, Hop: 1}}}
	if _, _, err := d.Plan(&good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*tree.Tree){
		"of another graph":         func(t *tree.Tree) { t.Graph = graph(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3}) },
		"to a leaf in vain":        func(t *tree.Tree) { t.Steps = append(slices.Clone(t.Steps), tree.Step{Arc: 4, Hop: 1}) },
		"receiver outside":         func(t *tree.Tree) { t.Receivers = []int{2, 3} },
		"no receivers":             func(t *tree.Tree) { t.Receivers = nil },
		"source that isn't a node": func(t *tree.Tree) { t.Source = 4 },
	} {
		bad := good
		change(&bad)
		if h, _, err := d.Plan(&bad); err == nil || h != nil {
			t.Errorf("%s: no error", name)
		}
	}
	long, err := topology.Line(257)
	if err != nil {
		t.Fatal(err)
	}
	deep, err := tree.ShortestPath(long, 0, []int{256}, tree.Hops)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := newEngineered(t, network(long)).Plan(deep); !errors.Is(err, ErrTooLarge) {
		t.Errorf("256 hops: %v, want ErrTooLarge", err)
	}
}

// TestLostLinkOfATree: if a link of the tree is gone, the nodes behind it don't get the packet
// and all others get it once.
func TestLostLinkOfATree(t *testing.T) {
	links := [][2]int{{0, 1}, {0, 2}, {0, 3}, {3, 4}}
	known, present := network(graph(5, links...)), network(graph(5, links[1:]...))
	d, err := NewTE(known, present, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.ShortestPath(known.Graph, 0, []int{1, 2, 3, 4}, tree.Hops)
	if err != nil {
		t.Fatal(err)
	}
	headers, _, err := d.Plan(tr)
	if err != nil {
		t.Fatal(err)
	}
	wantOnce(t, send(t, present, d.Router, 0, headers[0]), []int{2, 3, 4})
}

// TestAllOnesEnds: with all bits set a packet takes every path, and each path ends, because a
// copy never crosses a link twice. Bit strings must come from trusted senders: in a mesh the
// number of paths grows exponentially.
func TestAllOnesEnds(t *testing.T) {
	n := network(graph(5, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{0, 3}, [2]int{0, 2}, [2]int{3, 4}))
	d := newEngineered(t, n)
	h := Header{BIFT: bift(64, engineered, 0), TTL: 255, Bits: []byte{255, 255, 255, 255, 255, 255, 255, 255}}
	packet, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	j := send(t, n, d.Router, 0, packet)
	for node, got := range j.delivered {
		if got == 0 {
			t.Errorf("node %d hadn't the packet", node)
		}
	}
	if len(j.arcs) <= len(n.Graph.Links) {
		t.Errorf("%d copies, want several ways", len(j.arcs))
	}
}
