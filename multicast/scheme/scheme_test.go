package scheme

import (
	"bytes"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// schemes are the schemes with default options.
func schemes() []Scheme { return []Scheme{Umbel{}, &Adaptive{}} }

// TestAllReceive: in every scheme all receivers of a tree get a packet. Packets leave the tree
// exactly if the plan has false matches, which umbel never has.
func TestAllReceive(t *testing.T) {
	for _, s := range schemes() {
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
	for _, s := range schemes() {
		one, two := domain(t, s, n, n), domain(t, s, n, n)
		for _, tr := range trees(t, n, 5, 12) {
			a, b := plan(t, one, tr, 3), plan(t, two, tr, 3)
			if !slices.EqualFunc(a.Headers, b.Headers, bytes.Equal) {
				t.Errorf("%s: %x, and then %x", s.Name(), a.Headers, b.Headers)
			}
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
		p, err := domain(t, &Adaptive{TTL: c.ttl, Links: 60}, n, n).Plan(tr, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := int(p.Headers[0][1]); got != c.want {
			t.Errorf("TTL %d, depth %d: %d in the header, want %d", c.ttl, tr.Depth(), got, c.want)
		}
	}
	grid := networks(t)["grid"]
	shallow := trees(t, grid, 1, 3)[0]
	if got := plan(t, domain(t, &Adaptive{}, grid, grid), shallow, 1).Headers[0][1]; got != DefaultTTL {
		t.Errorf("TTL %d, want %d", got, DefaultTTL)
	}
}

func TestReceive(t *testing.T) {
	n := networks(t)["grid"]
	tr := trees(t, n, 1, 10)[0]
	for _, s := range schemes() {
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
	for _, s := range schemes() {
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
	for _, s := range schemes() {
		b.Run(s.Name(), func(b *testing.B) {
			d := domain(b, s, n, n)
			for b.Loop() {
				plan(b, d, tr, 1)
			}
		})
	}
}
