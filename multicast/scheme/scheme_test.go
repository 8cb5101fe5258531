package scheme

import (
	"bytes"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/lipsin"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TestAllReceive: in every scheme all receivers of a tree get a packet. Packets leave the tree
// exactly if the plan has false matches, which umbel never has. BIER has its own paths, so they
// are not compared with the tree.
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

// TestBits counts the bits of BIER, BIER-TE and LIPSIN, which depend on the network only.
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
		{Lipsin{Design: lipsin.Parameters{M: 300, K: 4, Sets: 2, MaxFill: 1}}, 308, "dense"},
	}
	for _, c := range tests {
		d := domain(t, c.s, n, n)
		p := plan(t, d, trees(t, n, 1, 9)[0], 1)
		if p.Bits != c.bits || p.Form != c.form || len(p.Headers) != 1 {
			t.Errorf("%s: %d bits of the form %s in %d headers, want %d of %s in 1", c.s.Name(), p.Bits, p.Form, len(p.Headers), c.bits, c.form)
		}
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

// TestStale plans for a network that has changed since. Nothing is sent on links that are gone,
// and the rest of the tree gets its packets.
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
