package bier

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func newDomain(t testing.TB, n *multicast.Network, o Options) *Domain {
	t.Helper()
	d, err := New(n, n, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReceiversHaveThePacketOnce: in random graphs, with one set and with several, every
// receiver gets the packet once and no other node does. There are as many copies as links of the
// shortest paths, and no drops.
func TestReceiversHaveThePacketOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 60 {
		nodes := 2 + r.IntN(200)
		g := randomGraph(r, nodes, r.IntN(2*nodes))
		o := Options{MaxBSL: []int{0, 64, 128}[i%3], Metric: tree.Metric(i % 2)}
		n := network(g)
		d := newDomain(t, n, o)
		finder := tree.NewFinder(g, o.Metric)
		for range 5 {
			source := r.IntN(nodes)
			receivers := pick(r, nodes, 1+r.IntN(min(nodes, 40)-1))
			receivers = slices.DeleteFunc(receivers, func(x int) bool { return x == source })
			if len(receivers) == 0 {
				continue
			}
			headers, bits, err := d.Plan(source, receivers)
			if err != nil {
				t.Fatal(err)
			}
			if bits != len(headers)*d.BSL() {
				t.Errorf("%d bits, want %d strings of %d", bits, len(headers), d.BSL())
			}
			sum := journey{delivered: make([]int, nodes)}
			for s, h := range headers {
				j := send(t, n, d.Router, source, append(h, fmt.Sprint("payload ", s)...))
				checkShortest(t, g, finder, source, j)
				for node, got := range j.delivered {
					sum.delivered[node] += got
				}
				if j.drops != [multicast.Reasons]int{} {
					t.Errorf("drops %v", j.drops)
				}
			}
			wantOnce(t, sum, receivers)
		}
	}
}

// checkShortest fails unless the copies of a packet went over the links of a tree of shortest
// paths from the source, each link once, and each end of the tree is a receiver.
func checkShortest(t *testing.T, g *topology.Graph, f *tree.Finder, source int, j journey) {
	t.Helper()
	steps := &tree.Tree{Graph: g, Source: source}
	hops := map[int]int{source: 0}
	length := map[int]float64{source: 0}
	for _, a := range j.arcs {
		from, to := g.Ends(a)
		steps.Steps = append(steps.Steps, tree.Step{Arc: a, Hop: hops[from]})
		hops[to] = hops[from] + 1
		length[to] = length[from] + f.Distance(from, to)
		if want := f.Distance(source, to); length[to] != want {
			t.Errorf("a copy came to node %d over %v, want %v", to, length[to], want)
		}
	}
	for node, got := range j.delivered {
		if got > 0 {
			steps.Receivers = append(steps.Receivers, node)
		}
	}
	if err := steps.Check(); err != nil {
		t.Error(err)
	}
}

func TestSets(t *testing.T) {
	for _, c := range []struct{ nodes, most, length, sets int }{
		{2, 0, 64, 1}, {64, 0, 64, 1}, {65, 0, 128, 1}, {128, 0, 128, 1}, {315, 0, 512, 1}, {315, 256, 256, 2}, {754, 256, 256, 3},
		{65, 64, 64, 2}, {4096, 0, 4096, 1}, {4097, 0, 4096, 2},
	} {
		n := network(graph(c.nodes))
		d := newDomain(t, n, Options{MaxBSL: c.most})
		if d.BSL() != c.length || d.Sets() != c.sets {
			t.Errorf("%d nodes and at most %d bits: %d sets of %d bits, want %d of %d", c.nodes, c.most, d.Sets(), d.BSL(), c.sets, c.length)
		}
	}
}

func TestNetworksThatAreRefused(t *testing.T) {
	line, err := topology.Line(257)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(network(line), network(line), Options{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("paths of 256 hops: %v, want ErrTooLarge", err)
	}
	many := network(graph(256*64 + 1))
	if _, err := New(many, many, Options{MaxBSL: 64}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("257 sets: %v, want ErrTooLarge", err)
	}
	if _, err := New(network(graph(3)), network(graph(4)), Options{}); err == nil {
		t.Error("3 nodes known and 4 present: no error")
	}
	heavy := graph(2, [2]int{0, 1})
	heavy.Links[0].Weight = 0
	if _, err := New(network(heavy), network(heavy), Options{Metric: tree.Weights}); err == nil {
		t.Error("a link of weight 0: no error")
	}
	n := network(graph(2))
	for _, bsl := range []int{-64, 1, 32, 63, 96, 8192} {
		if _, err := New(n, n, Options{MaxBSL: bsl}); err == nil {
			t.Errorf("bit strings of up to %d: no error", bsl)
		}
		if _, err := NewTE(n, n, Options{MaxBSL: bsl}); err == nil {
			t.Errorf("BIER-TE with bit strings of up to %d: no error", bsl)
		}
	}
}

// TestLongestPath: the last hop of the longest possible path is served.
func TestLongestPath(t *testing.T) {
	g, err := topology.Line(256)
	if err != nil {
		t.Fatal(err)
	}
	n := network(g)
	d := newDomain(t, n, Options{})
	headers, _, err := d.Plan(0, []int{255})
	if err != nil {
		t.Fatal(err)
	}
	j := send(t, n, d.Router, 0, headers[0])
	wantOnce(t, j, []int{255})
	if len(j.arcs) != 255 {
		t.Errorf("%d copies, want 255", len(j.arcs))
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	n := network(graph(5, [2]int{0, 1}, [2]int{1, 2}, [2]int{3, 4}))
	d := newDomain(t, n, Options{})
	for _, c := range []struct {
		name      string
		source    int
		receivers []int
		want      error
	}{
		{"source below", -1, []int{1}, tree.ErrNode},
		{"source above", 5, []int{1}, tree.ErrNode},
		{"receiver below", 0, []int{-1}, tree.ErrNode},
		{"receiver above", 0, []int{1, 5}, tree.ErrNode},
		{"no receivers", 0, nil, tree.ErrNoReceivers},
		{"only the source", 0, []int{0}, tree.ErrNoReceivers},
		{"no path", 0, []int{1, 3}, tree.ErrDisconnected},
	} {
		if h, _, err := d.Plan(c.source, c.receivers); !errors.Is(err, c.want) || h != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestLostLink: if a link is gone that routers still have in their tables, the nodes behind it
// don't get the packet and all others get it once, although ports have other numbers.
func TestLostLink(t *testing.T) {
	links := [][2]int{{0, 1}, {0, 2}, {0, 3}, {3, 4}}
	known, present := network(graph(5, links...)), network(graph(5, links[1:]...))
	d, err := New(known, present, Options{})
	if err != nil {
		t.Fatal(err)
	}
	headers, _, err := d.Plan(0, []int{1, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	wantOnce(t, send(t, present, d.Router, 0, headers[0]), []int{2, 4})

	headers, _, err = d.Plan(0, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	j := send(t, present, d.Router, 0, headers[0])
	wantOnce(t, j, nil)
	if j.drops[multicast.Unknown] != 1 {
		t.Errorf("drops %v, want one as unknown", j.drops)
	}
}

// TestAllOnes: a packet with all bits reaches every node of its set once, from any source.
func TestAllOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		nodes := 65 + r.IntN(100)
		n := network(randomGraph(r, nodes, nodes))
		d := newDomain(t, n, Options{MaxBSL: 64})
		for s := range d.Sets() {
			h := Header{BIFT: bift(64, plain, s), TTL: 255, Bits: []byte{255, 255, 255, 255, 255, 255, 255, 255}}
			packet, err := h.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			var all []int
			for node := s * 64; node < min(nodes, s*64+64); node++ {
				all = append(all, node)
			}
			wantOnce(t, send(t, n, d.Router, r.IntN(nodes), packet), all)
		}
	}
}

// TestCostsThatVanish: a link cost that vanishes in the rounding of sums causes no loop.
func TestCostsThatVanish(t *testing.T) {
	g := graph(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{0, 2}, [2]int{2, 3})
	g.Links[0].Weight, g.Links[1].Weight, g.Links[2].Weight, g.Links[3].Weight = 1e-300, 1e-300, 1e-300, 1
	n := network(g)
	d := newDomain(t, n, Options{Metric: tree.Weights})
	for source := range 3 {
		headers, _, err := d.Plan(source, []int{3})
		if err != nil {
			t.Fatal(err)
		}
		wantOnce(t, send(t, n, d.Router, source, headers[0]), []int{3})
	}
}

// TestEqualPaths: among next hops at the same distance the neighbor with the lowest number is
// chosen, independent of the order of links.
func TestEqualPaths(t *testing.T) {
	for _, links := range [][][2]int{
		{{0, 1}, {0, 2}, {1, 3}, {2, 3}},
		{{2, 3}, {0, 2}, {1, 3}, {0, 1}},
	} {
		n := network(graph(4, links...))
		d := newDomain(t, n, Options{})
		headers, _, err := d.Plan(0, []int{3})
		if err != nil {
			t.Fatal(err)
		}
		j := send(t, n, d.Router, 0, headers[0])
		if _, to := n.Graph.Ends(j.arcs[0]); to != 1 || len(j.arcs) != 2 {
			t.Errorf("links %v: by node %d, want 1", links, to)
		}
	}
}
