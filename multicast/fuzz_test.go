package multicast

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// FuzzRoute routes untrusted packets. None makes a node panic, send back, send twice on one
// port, or change what follows the header.
func FuzzRoute(f *testing.F) {
	cs, stored := links(16), dense(1, 248, 2, 16)
	traced := single(200, cs[2])
	traced.Trace = &inpacket.Trace{Capacity: 2}
	f.Add(pack(f, traced), 3)
	f.Fuzz(func(t *testing.T, b []byte, in int) {
		in = in&31 - 1 // also ports there aren't
		n := newNode(t, Config{ID: 7, Ports: 16, Window: 2, Keys: []Keys{{Epoch: 1, Ports: cs, Dense: stored, DenseBits: 248, Detours: around(cs, stored)}}})
		n.SetDown(0, true)
		before := slices.Clone(b)
		e := n.Explain(b, in)
		if !slices.Equal(b, before) {
			t.Fatal("Explain changed the packet")
		}
		copies, v := n.Route(nil, b, in)
		sent := map[int]bool{in: true, 0: true} // to where nothing may go
		for _, c := range copies {
			if c.Port < 0 || c.Port >= 16 || sent[c.Port] {
				t.Fatalf("came in on %d, port 0 is down, out on %v", in, ports(copies))
			}
			sent[c.Port] = true
			if !e.Ports[c.Port].Sends {
				t.Fatalf("out on port %d, explained as %v", c.Port, e)
			}
			if len(c.Packet) != len(before) {
				t.Fatalf("a copy of %d bytes of a packet of %d", len(c.Packet), len(before))
			}
		}
		if v.Drop != None && (len(copies) > 0 || v.Deliver || !slices.Equal(b, before)) {
			t.Fatalf("dropped as %q with %d copies, delivered %v, or changed", v.Drop, len(copies), v.Deliver)
		}
		if e.Drop != v.Drop || e.Deliver != v.Deliver {
			t.Fatalf("explained %v, routed %+v", e, v)
		}
		if c := n.Counters().Read(); c.Packets != 1 || c.Copies != uint64(len(copies)) || c.Dropped[v.Drop] != 1 && v.Drop != None {
			t.Fatalf("counts %+v of %d copies, %+v", c, len(copies), v)
		}
	})
}
