package competitors

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors/bier"
	"github.com/umbel-filters/umbel/research/competitors/lipsin"
)

// network returns the network of a valid graph.
func network(t testing.TB, g *topology.Graph, err error) *multicast.Network {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return multicast.NewNetwork(g, inpacket.Key{1, 2, 3}, 7)
}

// networks are the networks on which all schemes are tested.
func networks(t testing.TB) map[string]*multicast.Network {
	grid, err := topology.Grid(6, 6)
	all := map[string]*multicast.Network{"grid": network(t, grid, err)}
	random, err := topology.BarabasiAlbert(50, 2, 11)
	all["random"] = network(t, random, err)
	return all
}

// grown returns a random graph of 60 nodes.
func grown(t testing.TB) *topology.Graph {
	t.Helper()
	g, err := topology.BarabasiAlbert(60, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// trees draws shortest-path trees of 1 to most receivers.
func trees(t testing.TB, n *multicast.Network, count, most int) []*tree.Tree {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 9))
	f := tree.NewFinder(n.Graph, tree.Hops)
	var all []*tree.Tree
	for len(all) < count {
		nodes := r.Perm(len(n.Graph.Nodes))
		tr, err := f.ShortestPath(nodes[0], nodes[1:2+r.IntN(most)])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return all
}

func domain(t testing.TB, s scheme.Scheme, n *multicast.Network) scheme.Domain {
	t.Helper()
	d, err := s.Domain(n, n)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func plan(t testing.TB, d scheme.Domain, tr *tree.Tree, group uint32) scheme.Plan {
	t.Helper()
	p, err := d.Plan(tr, group)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, s scheme.Scheme, e sim.Experiment) sim.Result {
	t.Helper()
	e.Graph, e.Scheme = grown(t), s
	r, err := e.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAllReceive: in every scheme all receivers of a tree get a packet. Copies leave the tree, or a node gets
// two, exactly if the plan has false matches. BIER has its own paths.
func TestAllReceive(t *testing.T) {
	for _, s := range All() {
		for name, n := range networks(t) {
			t.Run(s.Name()+"/"+name, func(t *testing.T) {
				d := domain(t, s, n)
				w := sim.NewFabric(n)
				for i, tr := range trees(t, n, 25, 12) {
					group := uint32(i)
					d.Receive(group, tr.Receivers)
					p := plan(t, d, tr, group)
					r := w.Send(d, tr, p, sim.Options{OwnPaths: sim.OwnPaths(s)})
					if r.Reached != len(tr.Receivers) || r.Wrong != 0 {
						t.Fatalf("tree %d: %d of %d receivers reached, %d wrong", i, r.Reached, len(tr.Receivers), r.Wrong)
					}
					if exact := r.Copies == r.TreeLinks && r.Twice == 0; exact != (p.False == 0) {
						t.Fatalf("tree %d: %d false matches planned, and %+v", i, p.False, r)
					}
				}
			})
		}
	}
}

func TestPlansAreTheSame(t *testing.T) {
	n := networks(t)["random"]
	for _, s := range All() {
		one, two := domain(t, s, n), domain(t, s, n)
		for _, tr := range trees(t, n, 5, 12) {
			a, b := plan(t, one, tr, 3), plan(t, two, tr, 3)
			if !slices.EqualFunc(a.Headers, b.Headers, bytes.Equal) {
				t.Errorf("%s: %x, and then %x", s.Name(), a.Headers, b.Headers)
			}
		}
	}
}

// TestBits counts the bits of BIER, BIER-TE and LIPSIN, which depend on the network only.
func TestBits(t *testing.T) {
	n := networks(t)["grid"] // 36 nodes, 60 links: 96 bits of BIER-TE
	for _, c := range []struct {
		s    scheme.Scheme
		bits int
		form string
	}{
		{BIER{}, 64, "receivers"},
		{BIERTE{}, 128, "links"},
		{Lipsin{}, 256, "dense"},
		{Lipsin{Design: lipsin.Parameters{M: 300, K: 4, Sets: 2, MaxFill: 1}}, 308, "dense"},
	} {
		p := plan(t, domain(t, c.s, n), trees(t, n, 1, 9)[0], 1)
		if p.Bits != c.bits || p.Form != c.form || len(p.Headers) != 1 {
			t.Errorf("%s: %d bits of the form %s in %d headers, want %d of %s in 1", c.s.Name(), p.Bits, p.Form, len(p.Headers), c.bits, c.form)
		}
	}
}

// TestExactSchemes: in an unchanged network these schemes make no unnecessary copy.
func TestExactSchemes(t *testing.T) {
	for _, s := range []scheme.Scheme{scheme.Umbel{}, BIER{}, BIERTE{}} {
		for _, clustered := range []bool{false, true} {
			r := run(t, s, sim.Experiment{Receivers: 12, Trees: 30, Seed: 4, Clustered: clustered})
			if r.Efficiency != 1 || r.Loops != 0 || r.Duplicates != 0 || r.FalseForwards != 0 || r.Twice != 0 || r.Copies != r.TreeLinks {
				t.Errorf("%s: %+v, want each link of the tree once and no other", s.Name(), r)
			}
		}
	}
}

// TestBIERInSets: if there are more nodes than bits, several packets go over the same links.
func TestBIERInSets(t *testing.T) {
	g, err := topology.BarabasiAlbert(150, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Experiment{Graph: g, Scheme: BIER{bier.Options{MaxBSL: 64}}, Receivers: 20, Trees: 30, Seed: 4}.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Headers <= 2 || r.Repeats == 0 || r.Loops != 0 || r.Duplicates != 0 || r.LostReceivers != 0 || r.Efficiency >= 1 {
		t.Errorf("%+v, want three packets in most trees, links that carry several, and nothing else wrong", r)
	}
}

// TestFloods: LIPSIN's routers forward no packet whose filter is all ones; those of BIER have no such check.
func TestFloods(t *testing.T) {
	e := sim.Experiment{Receivers: 8, Trees: 30, Flood: true}
	r := run(t, Lipsin{}, e)
	if r.Copies != 0 || r.Drops["all-ones"]+r.Drops["over-full"] != 30 || r.LostReceivers != 1 {
		t.Errorf("lipsin: %g copies, drops %v, want none of 30 packets to go on", r.Copies, r.Drops)
	}
	r = run(t, BIER{}, e)
	if r.Copies < 59 || r.Storms != 0 || r.Wrong != 60-8 {
		t.Errorf("bier: %g copies, %g wrong deliveries, want a packet to each of 59 nodes, taken by all 60 but 8 wrongly, and no storm", r.Copies, r.Wrong)
	}
}

// TestBIERFindsNewPaths: after routing has converged only disconnected receivers are lost.
func TestBIERFindsNewPaths(t *testing.T) {
	e := sim.Experiment{Receivers: 8, Trees: 60, Seed: 3, Fail: 30}
	rebuilt := run(t, BIER{}, e)
	if rebuilt.LostReceivers != rebuilt.CutOff || rebuilt.CutOff == 0 || rebuilt.Efficiency != 1 {
		t.Errorf("%g lost, %g cut off, efficiency %g, want the same and 1", rebuilt.LostReceivers, rebuilt.CutOff, rebuilt.Efficiency)
	}
	e.Knowledge = sim.Unnoticed
	if r := run(t, BIER{}, e); r.LostReceivers <= rebuilt.LostReceivers || r.LostCopies == 0 {
		t.Errorf("%g lost before routing has caught up, %g after, want more", r.LostReceivers, rebuilt.LostReceivers)
	}
}

// TestStale plans for a network that has changed since. Some receivers are lost, and most get their packets.
func TestStale(t *testing.T) {
	for _, s := range All() {
		r := run(t, s, sim.Experiment{Receivers: 8, Trees: 30, Seed: 3, Fail: 6, Add: 6, Knowledge: sim.Unnoticed})
		if r.LostReceivers == 0 || r.LostReceivers > 0.5 {
			t.Errorf("%s: a share of %g of the receivers is lost, want some, and fewer than half", s.Name(), r.LostReceivers)
		}
	}
}

// TestRepair: LIPSIN's routers with detours lose far fewer receivers than routers without, and packets don't
// multiply.
func TestRepair(t *testing.T) {
	e := sim.Experiment{Receivers: 8, Trees: 300, Seed: 3, Fail: 2, Together: true, Knowledge: sim.AtEnds}
	without, with := run(t, Lipsin{}, e), run(t, Lipsin{Routers: scheme.Routers{Repair: true}}, e)
	if without.LostReceivers == 0 || 3*with.LostReceivers > without.LostReceivers {
		t.Errorf("lost %g with repair, %g without, want less than a third", with.LostReceivers, without.LostReceivers)
	}
	if with.Copies > 3*without.Copies {
		t.Errorf("%g copies with repair, %g without, want at most three times as many", with.Copies, without.Copies)
	}
}

// TestSendDoesNotAllocate: routers of all schemes forward packets without memory of their own.
func TestSendDoesNotAllocate(t *testing.T) {
	n := multicast.NewNetwork(grown(t), inpacket.Key{1}, 0)
	tr := trees(t, n, 1, 12)[0]
	for _, s := range All() {
		d := domain(t, s, n)
		d.Receive(1, tr.Receivers)
		p := plan(t, d, tr, 1)
		w := sim.NewFabric(n)
		if allocs := testing.AllocsPerRun(20, func() { w.Send(d, tr, p, sim.Options{}) }); allocs != 0 {
			t.Errorf("%s: %g allocations a tree once buffers are there, want 0", s.Name(), allocs)
		}
	}
}

// FuzzTraceHeader routes untrusted bytes in each scheme. No router panics, and copies stay within bounds.
func FuzzTraceHeader(f *testing.F) {
	n := multicast.NewNetwork(grown(f), inpacket.Key{1}, 0)
	tr := trees(f, n, 1, 6)[0]
	var domains []scheme.Domain
	for i, s := range All() {
		d := domain(f, s, n)
		f.Add(uint8(i), uint8(0), plan(f, d, tr, 1).Headers[0])
		domains = append(domains, d)
	}
	f.Fuzz(func(t *testing.T, with, source uint8, header []byte) {
		d := domains[int(with)%len(domains)]
		got := sim.NewFabric(n).TraceHeader(d, int(source)%len(n.Graph.Nodes), header, sim.Options{MaxCopies: 200})
		if got.Record.Copies > 200 || len(got.Visits) != 1+got.Record.Copies {
			t.Errorf("%d copies and %d visits, want at most 200, and a visit for each and the source", got.Record.Copies, len(got.Visits))
		}
	})
}

func TestErrors(t *testing.T) {
	n := networks(t)["grid"]
	fewer, err := topology.Grid(6, 5)
	other := network(t, fewer, err)
	for _, s := range All() {
		if _, err := s.Domain(n, other); err == nil {
			t.Errorf("%s: fewer nodes: no error", s.Name())
		}
	}
	for name, s := range map[string]scheme.Scheme{
		"lipsin without bits":       Lipsin{Design: lipsin.Parameters{K: 5, Sets: 8, MaxFill: 0.7}},
		"lipsin, window below zero": Lipsin{Routers: scheme.Routers{Window: -1}},
		"lipsin, TTL above 255":     Lipsin{TTL: 256},
		"bier, odd length":          BIER{bier.Options{MaxBSL: 65}},
		"bier-te, odd length":       BIERTE{bier.Options{MaxBSL: 65}},
		"bier-te, too many links":   BIERTE{bier.Options{MaxBSL: 64}},
	} {
		if _, err := s.Domain(n, n); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	large := slices.MaxFunc(trees(t, n, 20, 30), func(a, b *tree.Tree) int { return len(a.Steps) - len(b.Steps) })
	for _, d := range []lipsin.Parameters{{M: 100, K: 5, Sets: 3, MaxFill: 0.5}, {M: 10, K: 5, Sets: 3, MaxFill: 1}} {
		if _, err := domain(t, Lipsin{Design: d}, n).Plan(large, 1); !errors.Is(err, lipsin.ErrOverfull) {
			t.Errorf("%d links in a filter of %d bits: %v, want ErrOverfull", len(large.Steps), d.M, err)
		}
	}
	strange := trees(t, networks(t)["random"], 1, 3)[0]
	for _, s := range []scheme.Scheme{Lipsin{}, BIERTE{}} {
		if _, err := domain(t, s, n).Plan(strange, 1); err == nil {
			t.Errorf("%s: a tree of another graph: no error", s.Name())
		}
	}
}
