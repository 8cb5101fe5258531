package scheme

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

func TestDomainErrors(t *testing.T) {
	n := networks(t)["grid"]
	fewer, err := topology.Grid(6, 5)
	other := network(t, fewer, err)
	renamed := *n.Graph
	renamed.Nodes = slices.Clone(renamed.Nodes)
	renamed.Nodes[3].Name = "elsewhere"
	moved := network(t, &renamed, nil)
	later := multicast.NewNetwork(n.Graph, inpacket.Key{1, 2, 3}, 8)
	for _, s := range schemes() {
		for name, present := range map[string]*multicast.Network{"fewer nodes": other, "another name": moved} {
			if _, err := s.Domain(n, present); !errors.Is(err, umbel.ErrGoal) {
				t.Errorf("%s: %s: no error", s.Name(), name)
			}
		}
	}
	tests := map[string]Scheme{
		"window below zero":          Umbel{Routers: Routers{Window: -1}},
		"sequences without a window": Umbel{Routers: Routers{OnlySequenced: true}},
		"slack below zero":           Umbel{Slack: -1},
		"slack above all TTLs":       Umbel{Slack: 255},
		"stages with slack":          Umbel{Slack: 1, Forms: []inpacket.Form{inpacket.Staged}},
		"repair of stages":           Umbel{Forms: []inpacket.Form{inpacket.Staged}, Routers: Routers{Repair: true}},
		"repair of planes":           Umbel{Forms: []inpacket.Form{inpacket.Linear}, Routers: Routers{Repair: true}},
		"repair of deep":             Umbel{Forms: []inpacket.Form{inpacket.Single, inpacket.Deep}, Routers: Routers{Repair: true}},
		"adaptive, TTL below 0":      &Adaptive{TTL: -1},
		"adaptive, rate 1":           &Adaptive{Rate: 1},
		"adaptive, links below zero": &Adaptive{Links: -1},
		"adaptive, too many links":   &Adaptive{Links: adaptive.MaxLinks + 1},
		"adaptive, no design at all": &Adaptive{Design: &adaptive.Design{}},
	}
	for name, s := range tests {
		if _, err := s.Domain(n, n); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: no error", name)
		}
	}
	for _, s := range schemes() {
		if _, err := s.Domain(n, later); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: known and present of two epochs: no error", s.Name())
		}
	}
}

func TestPlanErrors(t *testing.T) {
	n := networks(t)["grid"]
	strange := trees(t, networks(t)["random"], 1, 3)[0]
	for _, s := range schemes() {
		d := domain(t, s, n, n)
		if _, err := d.Plan(strange, 1); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: a tree of another graph: no error", s.Name())
		}
		broken := *trees(t, n, 1, 9)[0]
		broken.Steps = broken.Steps[1:]
		if _, err := d.Plan(&broken, 1); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: a tree without its first step: no error", s.Name())
		}
	}
	large := trees(t, n, 1, 1)[0]
	for _, tr := range trees(t, n, 20, 30) {
		if len(tr.Steps) > len(large.Steps) {
			large = tr
		}
	}
	if _, err := domain(t, &Adaptive{Design: crowded}, n, n).Plan(large, 1); !errors.Is(err, umbel.ErrGoal) {
		t.Error("a design whose filters are all ones: no error")
	}
	if _, err := domain(t, &Adaptive{Links: 5}, n, n).Plan(large, 1); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("%d links by a design for 5: no error", len(large.Steps))
	}
	if _, err := domain(t, Umbel{MaxFalseMatch: 1e-300}, n, n).Plan(large, 1); !errors.Is(err, inpacket.ErrTooLong) {
		t.Errorf("a stray chance of 1e-300: %v, want ErrTooLong", err)
	}
	line, err := topology.Line(300)
	long := network(t, line, err)
	for _, tr := range trees(t, long, 30, 1) {
		if tr.Depth() < 256 {
			continue
		}
		for _, s := range []Scheme{Umbel{}, &Adaptive{Links: 300}} {
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

// crowded is a bad design: all its filters have two bits, each of which is one in every second
// codeword.
var crowded = &adaptive.Design{
	Objective: adaptive.Independent, Least: 1, Rate: 0.5,
	Runs: []adaptive.Run{{Positions: 2, Odds: 1 << 63}}, Ends: slices.Repeat([]int{2}, 60),
}
