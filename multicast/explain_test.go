package multicast

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestExplainIsRoute: Explain returns what Route then does, and changes neither the packet nor
// the counters.
func TestExplainIsRoute(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	cs, stored := links(16), dense(1, 248, 1, 16)
	n := newNode(t, Config{Ports: 16, Window: 4, Keys: []Keys{{Epoch: 1, Ports: cs, Dense: stored, DenseBits: 248, Detours: around(cs, stored)}}})
	n.Join(9)
	n.SetDown(0, true)
	n.SetDown(5, true)
	packets := forms(t, cs, stored, 248)
	drops := 0
	for range 300 {
		for name, packet := range packets {
			b := slices.Clone(packet)
			if r.IntN(3) == 0 {
				b[r.IntN(len(b)-7)] ^= 1 << r.IntN(8)
			}
			b[1] = byte(r.IntN(6))
			in := r.IntN(17) - 1
			counts, before := n.Counters().Read(), slices.Clone(b)
			e := n.Explain(b, in)
			if !slices.Equal(before, b) || n.Counters().Read() != counts {
				t.Fatalf("%s: Explain changes the packet or the counters", name)
			}
			copies, v := n.Route(nil, b, in)
			var sends []int
			for p, view := range e.Ports {
				if view.Ingress != (p == in) || view.Down != (p == 0 || p == 5) {
					t.Fatalf("%s: port %d: %+v", name, p, view)
				}
				if view.Sends {
					sends = append(sends, p)
				}
			}
			repairs := n.Counters().Read().Repairs - counts.Repairs
			if !slices.Equal(sends, ports(copies)) || e.Drop != v.Drop || e.Deliver != v.Deliver || uint64(e.Repairs) != repairs {
				t.Fatalf("%s from %d: explained %v, sends on %v: routed to %v, %+v, with %d repairs", name, in, e, sends, ports(copies), v, repairs)
			}
			if len(copies) > 0 && copies[0].Packet[1] != e.TTL {
				t.Fatalf("%s: copies with TTL %d, explained %d", name, copies[0].Packet[1], e.TTL)
			}
			if v.Drop != None {
				drops++
			}
		}
	}
	if drops < 100 {
		t.Errorf("%d drops: the test draws too few", drops)
	}
}

func TestExplainInWords(t *testing.T) {
	cs := links(6)
	n := newNode(t, Config{Ports: 6, Keys: []Keys{{Epoch: 1, Ports: cs, Detours: around(cs, nil)}}})
	n.Join(9)
	h := single(400, cs[0], cs[2])
	last := h
	last.TTL = 1
	other := h
	other.Epoch = 8
	tests := []struct {
		name string
		b    []byte
		in   int
		down []int
		want string
	}{
		{"out", pack(t, h), Host, nil, "out on port 0; out on port 2"},
		{"not back", pack(t, h), 2, nil, "delivered; out on port 0; not back on port 2"},
		{"nothing here", pack(t, single(400, links(20)[19])), Host, nil, "the filter contains no link of this node"},
		{"repaired", pack(t, h), Host, []int{0}, "a detour around a port that is down was added to the filter; port 0 is down; out on port 1; out on port 2"},
		{"ended", pack(t, last), 3, nil, "delivered; not forwarded: its TTL is 0"},
		{"dropped", pack(t, other), 3, nil, "dropped: the node has no keys of its epoch"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range c.down {
				n.SetDown(p, true)
			}
			if got := n.Explain(c.b, c.in).String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			for _, p := range c.down {
				n.SetDown(p, false)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := range Reasons + 1 {
		if r != None && r.String() == "" || seen[r.String()] || seen[r.words()] {
			t.Errorf("reason %d is %q: %q, want words of its own", r, r, r.words())
		}
		seen[r.String()], seen[r.words()] = true, true
		if strings.ToLower(r.words()[:1]) != r.words()[:1] {
			t.Errorf("reason %d: %q begins with a capital", r, r.words())
		}
	}
}
