package scheme

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TestRepair takes each link of a tree down in turn. Routers with detours lose far fewer
// receivers than routers without, and packets don't multiply.
func TestRepair(t *testing.T) {
	single := []inpacket.Form{inpacket.Single}
	for _, c := range []struct {
		name          string
		with, without Scheme
	}{
		{"umbel", Umbel{Slack: 12, Routers: Routers{Repair: true}}, Umbel{Slack: 12, Forms: single}},
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

// withLinksDown returns the number of lost receivers and of copies, in walks with each link of
// each tree down in turn.
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

// TestRepairStray adds detours to the shortest filters. Packets multiply, which is the reason
// for RepairStray.
func TestRepairStray(t *testing.T) {
	for name, n := range networks(t) {
		all := trees(t, n, 20, 6)
		times, bits := [2]float64{}, [2]int{}
		for i, stray := range []float64{0.999, RepairFalseMatch} {
			d := domain(t, Umbel{Slack: 12, MaxFalseMatch: stray, Routers: Routers{Repair: true}}, n, n)
			_, copies := withLinksDown(t, d, n, all)
			links := 0
			for _, tr := range all {
				links += len(tr.Steps) * len(tr.Steps)
				bits[i] += plan(t, d, tr, 1).Bits
			}
			times[i] = float64(copies) / float64(links)
		}
		t.Logf("%s: %.1f times as many copies as links in %d bits, with the bound %.2f in %d", name, times[0], bits[0]/len(all), times[1], bits[1]/len(all))
		if times[0] < 10 || times[1] > 2 {
			t.Errorf("%s: %.1f times as many copies as links, with the bound %.2f, want above 10 and below 2", name, times[0], times[1])
		}
	}
}
