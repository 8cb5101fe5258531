package scheme

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/adaptive"
	"github.com/umbel-filters/umbel/inpacket/lipsin"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/bier"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// TestAllReceive has every scheme carry trees: all receivers get a packet. Of umbel
// and BIER-TE nothing else happens; of the others just that much more as was said.
func TestAllReceive(t *testing.T) {
	for _, s := range All() {
		for name, n := range networks(t) {
			t.Run(s.Name()+"/"+name, func(t *testing.T) {
				d := domain(t, s, n, n)
				for i, tr := range trees(t, n, 25, 12) {
					group := uint32(i)
					d.Receive(group, tr.Receivers)
					p := plan(t, d, tr, group)
					w := walk(t, d, n, tr.Source, p)
					if err := everyReceiver(w, tr, false); err != nil {
						t.Fatalf("tree %d: %v", i, err)
					}
					if s.Name() == "bier" {
						continue // it goes ways of its own
					}
					if exact := onlyTree(w, tr) == nil; exact != (p.False == 0) {
						t.Fatalf("tree %d: %d false matches planned, and the walk: %v", i, p.False, onlyTree(w, tr))
					}
					if s.Name() == "umbel" && (p.False != 0 || w.drops != 0) {
						t.Fatalf("tree %d: %d false matches, %d drops, want none", i, p.False, w.drops)
					}
				}
			})
		}
	}
}

// TestUmbelForms has each form, alone, with and without slack, carry trees.
func TestUmbelForms(t *testing.T) {
	for _, u := range []Umbel{
		{Forms: []inpacket.Form{inpacket.Single}},
		{Forms: []inpacket.Form{inpacket.Staged}},
		{Forms: []inpacket.Form{inpacket.Folded}},
		{Forms: []inpacket.Form{inpacket.Linear}},
		{Forms: []inpacket.Form{inpacket.Single}, Slack: 3},
		{Forms: []inpacket.Form{inpacket.Folded}, Slack: 1, Routers: Routers{Repair: true, Window: 4}},
		{Forms: []inpacket.Form{inpacket.Linear}, Slack: 250 - 12},
		{Slack: 2},
		{Slack: 2, Routers: Routers{Repair: true}},
	} {
		t.Run(formNames(u.Forms), func(t *testing.T) {
			for name, n := range networks(t) {
				d := domain(t, u, n, n)
				for i, tr := range trees(t, n, 10, 10) {
					d.Receive(1, tr.Receivers)
					p := plan(t, d, tr, 1)
					if err := onlyTree(walk(t, d, n, tr.Source, p), tr); err != nil {
						t.Fatalf("%s, tree %d: %v", name, i, err)
					}
					var h inpacket.Header
					if _, err := h.Parse(p.Headers[0]); err != nil {
						t.Fatal(err)
					}
					if len(u.Forms) > 0 && !slices.Contains(u.Forms, h.Form) || FormName(h.Form) != p.Form {
						t.Fatalf("%s, tree %d: form %s, in the header %d", name, i, p.Form, h.Form)
					}
					if want := tr.Depth() + u.Slack; int(h.TTL) != want {
						t.Fatalf("%s, tree %d: TTL %d, want %d", name, i, h.TTL, want)
					}
					seed := 8
					if h.Seed > 255 {
						seed = 16
					}
					if p.Bits != h.Bits+seed || h.Group != 1 || h.Epoch != n.Epoch {
						t.Fatalf("%s, tree %d: %d bits, header %+v", name, i, p.Bits, h)
					}
				}
			}
		})
	}
}

func TestPlansAreTheSame(t *testing.T) {
	n := networks(t)["random"]
	for _, s := range All() {
		one, two := domain(t, s, n, n), domain(t, s, n, n)
		for _, tr := range trees(t, n, 5, 12) {
			a, b := plan(t, one, tr, 3), plan(t, two, tr, 3)
			if !slices.EqualFunc(a.Headers, b.Headers, bytes.Equal) {
				t.Errorf("%s: %x, and then %x", s.Name(), a.Headers, b.Headers)
			}
		}
	}
}

// TestBits counts what BIER, BIER-TE and LIPSIN spend, which hangs on the network only.
func TestBits(t *testing.T) {
	n := networks(t)["grid"] // 36 nodes, 60 links: 96 bits of BIER-TE
	tests := []struct {
		s    Scheme
		bits int
		form string
	}{
		{BIER{}, 64, "receivers"},
		{BIERTE{}, 128, "links"},
		{Lipsin{}, 256, "dense"},
		{Lipsin{Design: lipsin.Design{M: 300, K: 4, Sets: 2, MaxFill: 1}}, 308, "dense"},
	}
	for _, c := range tests {
		d := domain(t, c.s, n, n)
		p := plan(t, d, trees(t, n, 1, 9)[0], 1)
		if p.Bits != c.bits || p.Form != c.form || len(p.Headers) != 1 {
			t.Errorf("%s: %d bits of the form %s in %d headers, want %d of %s in 1", c.s.Name(), p.Bits, p.Form, len(p.Headers), c.bits, c.form)
		}
	}
}

func TestAdaptiveLengths(t *testing.T) {
	n := networks(t)["grid"]
	a := &Adaptive{Links: 40, Rate: 0.01}
	d := domain(t, a, n, n)
	for _, tr := range trees(t, n, 20, 8) {
		p := plan(t, d, tr, 1)
		m, _ := a.design.Truncate(len(tr.Steps))
		if p.Bits < m+8 || p.Bits > m+8+10 {
			t.Errorf("%d bits for %d links, want %d and 8, or a few more", p.Bits, len(tr.Steps), m)
		}
		if !(p.Stray > 0 && p.Stray < 0.02) {
			t.Errorf("stray chance of %g, want about the design's 0.01", p.Stray)
		}
	}
	loaded := domain(t, &Adaptive{Design: a.design}, n, n)
	tr := trees(t, n, 1, 8)[0]
	if x, y := plan(t, d, tr, 1), plan(t, loaded, tr, 1); !bytes.Equal(x.Headers[0], y.Headers[0]) {
		t.Errorf("%x by a design that was given, %x by one that was made", y.Headers[0], x.Headers[0])
	}
}

func TestTTLs(t *testing.T) {
	line, err := topology.Line(60)
	n := network(t, line, err)
	all := trees(t, n, 30, 1)
	i := slices.IndexFunc(all, func(tr *tree.Tree) bool { return tr.Depth() > DefaultTTL })
	if i < 0 {
		t.Fatal("no deep tree was drawn")
	}
	tr := all[i]
	for _, c := range []struct {
		ttl, want int
	}{{0, tr.Depth()}, {1, tr.Depth()}, {200, 200}} {
		for _, s := range []Scheme{Lipsin{TTL: c.ttl}, &Adaptive{TTL: c.ttl, Links: 60}} {
			p, err := domain(t, s, n, n).Plan(tr, 1)
			if err != nil {
				t.Fatalf("%s: %v", s.Name(), err)
			}
			if got := int(p.Headers[0][1]); got != c.want {
				t.Errorf("%s, TTL %d, depth %d: %d in the header, want %d", s.Name(), c.ttl, tr.Depth(), got, c.want)
			}
		}
	}
	grid := networks(t)["grid"]
	shallow := trees(t, grid, 1, 3)[0]
	for _, s := range []Scheme{Lipsin{}, &Adaptive{}} {
		if got := plan(t, domain(t, s, grid, grid), shallow, 1).Headers[0][1]; got != DefaultTTL {
			t.Errorf("%s: TTL %d, want %d", s.Name(), got, DefaultTTL)
		}
	}
}

func TestMaxStray(t *testing.T) {
	n := networks(t)["random"]
	loose, tight := domain(t, Umbel{}, n, n), domain(t, Umbel{MaxStray: 0.001}, n, n)
	for i, tr := range trees(t, n, 5, 10) {
		a, b := plan(t, loose, tr, 1), plan(t, tight, tr, 1)
		if b.Stray > 0.001 || b.Bits <= a.Bits {
			t.Errorf("tree %d: stray chance %g in %d bits, and %g in %d without bound", i, b.Stray, b.Bits, a.Stray, a.Bits)
		}
	}
}

func TestSeeds(t *testing.T) {
	n := networks(t)["random"]
	few, many := domain(t, Umbel{Seeds: 1}, n, n), domain(t, Umbel{Seeds: 128}, n, n)
	short, long := 0, 0
	for _, tr := range trees(t, n, 8, 10) {
		a, b := plan(t, few, tr, 1), plan(t, many, tr, 1)
		long, short = long+a.Bits, short+b.Bits
		if a.Trials == 0 || a.Trials >= b.Trials {
			t.Errorf("%d trials with 1 seed, %d with 128", a.Trials, b.Trials)
		}
	}
	if short >= long {
		t.Errorf("%d bits with 128 seeds, %d with 1", short, long)
	}
}

func TestReceive(t *testing.T) {
	n := networks(t)["grid"]
	tr := trees(t, n, 1, 10)[0]
	for _, s := range []Scheme{Umbel{}, Lipsin{}, &Adaptive{}} {
		d := domain(t, s, n, n)
		p := plan(t, d, tr, 5)
		for _, c := range []struct {
			what  string
			group uint32
			nodes []int
			want  int
		}{
			{"another group", 4, tr.Receivers, 0},
			{"all", 5, tr.Receivers, len(tr.Receivers)},
			{"one", 5, tr.Receivers[:1], 1},
			{"none", 5, nil, 0},
		} {
			d.Receive(c.group, c.nodes)
			w := walk(t, d, n, tr.Source, p)
			got := 0
			for _, r := range tr.Receivers {
				got += min(1, w.delivered[r])
			}
			if got != c.want {
				t.Errorf("%s: %s: delivered to %d, want %d", s.Name(), c.what, got, c.want)
			}
		}
	}
}

// TestStale plans for a network that isn't there any more. Nothing goes out on links
// that are gone, and what is left of the tree still gets its packets.
func TestStale(t *testing.T) {
	known := networks(t)["random"]
	less := *known.Graph
	less.Links = slices.Delete(slices.Clone(less.Links), 20, 26)
	present := multicast.NewNetwork(&less, inpacket.Key{1, 2, 3}, 7)
	for _, s := range All() {
		t.Run(s.Name(), func(t *testing.T) {
			d := domain(t, s, known, present)
			reached, lost := 0, 0
			for i, tr := range trees(t, known, 20, 10) {
				d.Receive(uint32(i), tr.Receivers)
				w := walk(t, d, present, tr.Source, plan(t, d, tr, uint32(i)))
				for _, r := range tr.Receivers {
					if w.delivered[r] > 0 {
						reached++
					} else {
						lost++
					}
				}
			}
			if reached == 0 || lost == 0 || lost > reached {
				t.Errorf("%d receivers reached, %d lost, want some lost, and fewer than reached", reached, lost)
			}
		})
	}
}

// TestRepair takes each link of a tree down in turn. Routers that know ways around
// lose far fewer receivers than those that don't, and packets don't multiply.
func TestRepair(t *testing.T) {
	single := []inpacket.Form{inpacket.Single}
	for _, c := range []struct {
		name          string
		with, without Scheme
	}{
		{"umbel", Umbel{Slack: 12, Routers: Routers{Repair: true}}, Umbel{Slack: 12, Forms: single}},
		{"lipsin", Lipsin{Routers: Routers{Repair: true}}, Lipsin{}},
		{"adaptive", &Adaptive{Routers: Routers{Repair: true}}, &Adaptive{}},
	} {
		for name, n := range networks(t) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				all := trees(t, n, 10, 6)
				lost, copies := withLinksDown(t, domain(t, c.with, n, n), n, all)
				before, links := withLinksDown(t, domain(t, c.without, n, n), n, all)
				t.Logf("receivers lost: %d, and %d without repair; copies: %d, and %d", lost, before, copies, links)
				if before < 50 || 3*lost > before {
					t.Errorf("%d receivers lost with repair, %d without, want less than a third", lost, before)
				}
				if copies > 3*links {
					t.Errorf("%d copies with repair, %d without, want at most three times as many", copies, links)
				}
			})
		}
	}
}

// withLinksDown returns how many receivers got nothing, and how many copies there
// were, in walks with one link of each tree after the other down.
func withLinksDown(t *testing.T, d Domain, n *multicast.Network, all []*tree.Tree) (lost, copies int) {
	for _, tr := range all {
		d.Receive(1, tr.Receivers)
		p := plan(t, d, tr, 1)
		for _, s := range tr.Steps {
			down(d, n, s.Arc, true)
			w := walk(t, d, n, tr.Source, p)
			down(d, n, s.Arc, false)
			copies += w.copies
			for _, r := range tr.Receivers {
				if w.delivered[r] == 0 {
					lost++
				}
			}
		}
	}
	return lost, copies
}

// down takes a link down at both ends, or up again.
func down(d Domain, n *multicast.Network, a topology.Arc, down bool) {
	for _, arc := range []topology.Arc{a, a.Reverse()} {
		from, _ := n.Graph.Ends(arc)
		port := slices.IndexFunc(n.Ports(from), func(p topology.Port) bool { return p.Arc == arc })
		d.Router(from).(*multicast.Node).SetDown(port, down)
	}
}

func TestDomainErrors(t *testing.T) {
	n := networks(t)["grid"]
	fewer, err := topology.Grid(6, 5)
	other := network(t, fewer, err)
	renamed := *n.Graph
	renamed.Nodes = slices.Clone(renamed.Nodes)
	renamed.Nodes[3].Name = "elsewhere"
	moved := network(t, &renamed, nil)
	later := multicast.NewNetwork(n.Graph, inpacket.Key{1, 2, 3}, 8)
	for _, s := range All() {
		for name, present := range map[string]*multicast.Network{"fewer nodes": other, "another name": moved} {
			if _, err := s.Domain(n, present); err == nil {
				t.Errorf("%s: %s: no error", s.Name(), name)
			}
		}
	}
	tests := map[string]Scheme{
		"window below zero":          Umbel{Routers: Routers{Window: -1}},
		"slack below zero":           Umbel{Slack: -1},
		"slack above all TTLs":       Umbel{Slack: 255},
		"stages with slack":          Umbel{Slack: 1, Forms: []inpacket.Form{inpacket.Staged}},
		"repair of stages":           Umbel{Forms: []inpacket.Form{inpacket.Staged}, Routers: Routers{Repair: true}},
		"repair of planes":           Umbel{Forms: []inpacket.Form{inpacket.Linear}, Routers: Routers{Repair: true}},
		"lipsin without bits":        Lipsin{Design: lipsin.Design{K: 5, Sets: 8, MaxFill: 0.7}},
		"lipsin, window below zero":  Lipsin{Routers: Routers{Window: -1}},
		"lipsin, TTL above 255":      Lipsin{TTL: 256},
		"adaptive, TTL below 0":      &Adaptive{TTL: -1},
		"adaptive, rate 1":           &Adaptive{Rate: 1},
		"adaptive, links below zero": &Adaptive{Links: -1},
		"adaptive, too many links":   &Adaptive{Links: adaptive.MaxLinks + 1},
		"adaptive, no design at all": &Adaptive{Design: &adaptive.Design{}},
		"bier, odd length":           BIER{bier.Options{MaxBSL: 65}},
		"bier-te, odd length":        BIERTE{bier.Options{MaxBSL: 65}},
		"bier-te, too many links":    BIERTE{bier.Options{MaxBSL: 64}},
	}
	for name, s := range tests {
		if _, err := s.Domain(n, n); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, s := range []Scheme{Umbel{}, Lipsin{}, &Adaptive{}} {
		if _, err := s.Domain(n, later); err == nil {
			t.Errorf("%s: known and present of two epochs: no error", s.Name())
		}
	}
}

func TestPlanErrors(t *testing.T) {
	n := networks(t)["grid"]
	strange := trees(t, networks(t)["random"], 1, 3)[0]
	for _, s := range []Scheme{Umbel{}, Lipsin{}, &Adaptive{}, BIERTE{}} {
		d := domain(t, s, n, n)
		if _, err := d.Plan(strange, 1); err == nil {
			t.Errorf("%s: a tree of another graph: no error", s.Name())
		}
		broken := *trees(t, n, 1, 9)[0]
		broken.Steps = broken.Steps[1:]
		if _, err := d.Plan(&broken, 1); err == nil {
			t.Errorf("%s: a tree without its first step: no error", s.Name())
		}
	}
	large := trees(t, n, 1, 1)[0]
	for _, tr := range trees(t, n, 20, 30) {
		if len(tr.Steps) > len(large.Steps) {
			large = tr
		}
	}
	small := Lipsin{Design: lipsin.Design{M: 100, K: 5, Sets: 3, MaxFill: 0.5}}
	if _, err := domain(t, small, n, n).Plan(large, 1); !errors.Is(err, lipsin.ErrOverfull) {
		t.Errorf("%d links in a filter of 100 bits: %v, want ErrOverfull", len(large.Steps), err)
	}
	if _, err := domain(t, &Adaptive{Links: 5}, n, n).Plan(large, 1); err == nil {
		t.Errorf("%d links by a design for 5: no error", len(large.Steps))
	}
	if _, err := domain(t, Umbel{MaxStray: 1e-300}, n, n).Plan(large, 1); !errors.Is(err, inpacket.ErrTooLong) {
		t.Errorf("a stray chance of 1e-300: %v, want ErrTooLong", err)
	}
	line, err := topology.Line(300)
	long := network(t, line, err)
	for _, tr := range trees(t, long, 30, 1) {
		if tr.Depth() < 256 {
			continue
		}
		for _, s := range []Scheme{Umbel{}, Lipsin{}, &Adaptive{Links: 300}, BIERTE{}} {
			d, err := s.Domain(long, long)
			if err == nil {
				_, err = d.Plan(tr, 1)
			}
			if err == nil {
				t.Errorf("%s: a tree of %d hops: no error", s.Name(), tr.Depth())
			}
		}
		return
	}
	t.Error("no tree of more than 255 hops was drawn")
}

func TestByName(t *testing.T) {
	if want := []string{"umbel", "lipsin", "adaptive", "bier", "bier-te"}; !slices.Equal(Names(), want) {
		t.Errorf("names %v, want %v", Names(), want)
	}
	n := networks(t)["grid"]
	for _, name := range Names() {
		s, err := ByName(name, Options{Seeds: 3, Slack: 1, TTL: 40, Links: 50, Rate: 0.02, MaxBSL: 256})
		if err != nil || s.Name() != name {
			t.Fatalf("%s: %v, %v", name, s, err)
		}
		domain(t, s, n, n)
	}
	if _, err := ByName("flood", Options{}); err == nil {
		t.Error("a scheme there isn't: no error")
	}
	// Each option changes the scheme that has it.
	tr := trees(t, n, 1, 10)[0]
	for _, c := range []struct {
		name   string
		scheme string
		o      Options
	}{
		{"forms", "umbel", Options{Forms: []inpacket.Form{inpacket.Folded}}},
		{"seeds", "umbel", Options{Seeds: 1}},
		{"stray", "umbel", Options{MaxStray: 1e-4}},
		{"slack", "umbel", Options{Slack: 3}},
		{"ttl", "lipsin", Options{TTL: 40}},
		{"design", "lipsin", Options{Lipsin: lipsin.Design{M: 200, K: 5, Sets: 8, MaxFill: 0.7}}},
		{"ttl", "adaptive", Options{TTL: 40}},
		{"links", "adaptive", Options{Links: 60}},
		{"rate", "adaptive", Options{Rate: 0.1}},
	} {
		plain, _ := ByName(c.scheme, Options{})
		changed, _ := ByName(c.scheme, c.o)
		a, b := plan(t, domain(t, plain, n, n), tr, 1), plan(t, domain(t, changed, n, n), tr, 1)
		if bytes.Equal(a.Headers[0], b.Headers[0]) {
			t.Errorf("%s: %s changes nothing", c.scheme, c.name)
		}
	}
}

func TestParseForms(t *testing.T) {
	got, err := ParseForms("linear,single")
	if want := []inpacket.Form{inpacket.Linear, inpacket.Single}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"", "dense", "single,", "Single", "form 9"} {
		if fs, err := ParseForms(bad); err == nil {
			t.Errorf("%q: %v, want an error", bad, fs)
		}
	}
	for f := range inpacket.Dense {
		if fs, err := ParseForms(FormName(f)); err != nil || len(fs) != 1 || fs[0] != f {
			t.Errorf("form %d: %v, %v", f, fs, err)
		}
	}
	if got, want := FormName(9), "form 9"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkPlan(b *testing.B) {
	n := networks(b)["random"]
	tr := trees(b, n, 1, 10)[0]
	for _, s := range All() {
		b.Run(s.Name(), func(b *testing.B) {
			d := domain(b, s, n, n)
			for b.Loop() {
				plan(b, d, tr, 1)
			}
		})
	}
}
