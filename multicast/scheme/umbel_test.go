package scheme

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// TestUmbelForms sends trees in each form, separately, with and without slack.
func TestUmbelForms(t *testing.T) {
	for _, u := range []Umbel{
		{Forms: []inpacket.Form{inpacket.Single}},
		{Forms: []inpacket.Form{inpacket.Staged}},
		{Forms: []inpacket.Form{inpacket.Folded}},
		{Forms: []inpacket.Form{inpacket.Linear}},
		{Forms: []inpacket.Form{inpacket.Deep}},
		{Forms: []inpacket.Form{inpacket.Complement}, Slack: 1},
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

func TestMaxStray(t *testing.T) {
	n := networks(t)["random"]
	loose, tight := domain(t, Umbel{}, n, n), domain(t, Umbel{MaxFalseMatch: 0.001}, n, n)
	for i, tr := range trees(t, n, 5, 10) {
		a, b := plan(t, loose, tr, 1), plan(t, tight, tr, 1)
		if b.FalseMatch > 0.001 || b.Bits <= a.Bits {
			t.Errorf("tree %d: stray chance %g in %d bits, and %g in %d without bound", i, b.FalseMatch, b.Bits, a.FalseMatch, a.Bits)
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
