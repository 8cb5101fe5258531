package bier

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// small is a network of a ring, a chord and three leaves, one of them at node 0.
func small() *multicast.Network {
	return network(graph(8, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{0, 4}, [2]int{1, 3},
		[2]int{0, 5}, [2]int{2, 6}, [2]int{4, 7}))
}

// planned returns a router of node 0 of each kind, and a packet for it to all nodes. Node 0 is a
// receiver, too.
func planned(t testing.TB) map[string]struct {
	router multicast.Router
	packet []byte
} {
	t.Helper()
	n := small()
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	d := newDomain(t, n, Options{})
	b, _, err := d.Plan(1, all)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngineered(t, n)
	tr, err := tree.ShortestPath(n.Graph, 1, all, tree.Hops)
	if err != nil {
		t.Fatal(err)
	}
	te, _, err := e.Plan(tr)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		router multicast.Router
		packet []byte
	}{
		"BIER":    {d.Router(0), append(b[0], "payload"...)},
		"BIER-TE": {e.Router(0), append(te[0], "payload"...)},
	}
}

func TestPacketsThatAreDropped(t *testing.T) {
	for kind, p := range planned(t) {
		with := func(at int, v byte) []byte {
			b := bytes.Clone(p.packet)
			b[at] = v
			return b
		}
		none := bytes.Clone(p.packet)
		clear(none[12:20])
		top := bytes.Clone(none)
		top[12] = 0x80
		for _, c := range []struct {
			name string
			b    []byte
			in   int
			want multicast.Verdict
		}{
			{"nothing", nil, 0, multicast.Verdict{Drop: multicast.Malformed}},
			{"another nibble", with(4, 0x60), 0, multicast.Verdict{Drop: multicast.Malformed}},
			{"version 1", with(4, 0x51), 0, multicast.Verdict{Drop: multicast.Version}},
			{"length not the table's", append(with(5, 0x20), 0, 0, 0, 0, 0, 0, 0, 0), 0, multicast.Verdict{Drop: multicast.Malformed}},
			{"another set", with(2, 0x10), 0, multicast.Verdict{Drop: multicast.Unknown}},
			{"another subdomain", with(1, 0x02), 0, multicast.Verdict{Drop: multicast.Unknown}},
			{"a table of longer strings", with(0, 0x20), 0, multicast.Verdict{Drop: multicast.Unknown}},
			{"TTL 0", with(3, 0), 0, multicast.Verdict{Drop: multicast.Expired}},
			{"TTL 0 from the host", with(3, 0), multicast.Host, multicast.Verdict{Drop: multicast.Expired}},
			{"TTL 1", with(3, 1), 0, multicast.Verdict{Deliver: true, Drop: multicast.Expired}},
			{"no bits", none, 0, multicast.Verdict{Drop: multicast.Unknown}},
			{"a bit of nobody", top, 0, multicast.Verdict{Drop: multicast.Unknown}},
		} {
			copies, v := p.router.Route(nil, c.b, c.in)
			if v != c.want || len(copies) != 0 {
				t.Errorf("%s: %s: %+v and %d copies, want %+v and none", kind, c.name, v, len(copies), c.want)
			}
		}
		for cut := range 20 {
			if copies, v := p.router.Route(nil, bytes.Clone(p.packet[:cut]), 0); v.Drop != multicast.Malformed || len(copies) != 0 {
				t.Errorf("%s: cut to %d bytes: %+v", kind, cut, v)
			}
		}
	}
}

// TestLastHop: a packet for this node alone is delivered with TTL 1.
func TestLastHop(t *testing.T) {
	n := small()
	d := newDomain(t, n, Options{})
	b, _, err := d.Plan(1, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	b[0][3] = 1
	if copies, v := d.Router(0).Route(nil, b[0], 0); v != (multicast.Verdict{Deliver: true}) || len(copies) != 0 {
		t.Errorf("%+v, %d copies", v, len(copies))
	}
}

// TestCopies: copies have the packet's payload and a TTL that is one lower, except those from
// the host. BIER's copies divide the bits among them; those of BIER-TE lack the node's own bits.
func TestCopies(t *testing.T) {
	for kind, p := range planned(t) {
		for _, in := range []int{0, multicast.Host} {
			before := bytes.Clone(p.packet)
			copies, v := p.router.Route([]multicast.Copy{{Port: 99}}, bytes.Clone(before), in)
			if !v.Deliver || v.Drop != multicast.None || len(copies) < 3 || copies[0].Port != 99 {
				t.Fatalf("%s: %+v and %d copies, want 2 more at least", kind, v, len(copies))
			}
			ttl := before[3]
			if in != multicast.Host {
				ttl--
			}
			together := make([]byte, 8)
			// Node 0 has links 0, 4 and 6; receivers' bits are those after the 9 links.
			own := []byte{0, 0, 0, 0, 0, 0, 1 << 1, 1<<0 | 1<<4 | 1<<6}
			for _, c := range copies[1:] {
				if c.Packet[3] != ttl || !bytes.Equal(c.Packet[20:], []byte("payload")) || !bytes.Equal(c.Packet[:3], before[:3]) || !bytes.Equal(c.Packet[4:12], before[4:12]) {
					t.Errorf("%s: %x of %x", kind, c.Packet, before)
				}
				for i, bits := range c.Packet[12:20] {
					if bits&^before[12+i] != 0 || kind == "BIER" && bits&together[i] != 0 || kind == "BIER-TE" && bits&own[i] != 0 {
						t.Errorf("%s: bits %x of %x", kind, c.Packet[12:20], before[12:20])
					}
					together[i] |= bits
				}
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	for kind, p := range planned(t) {
		b := make([]byte, len(p.packet))
		copies := make([]multicast.Copy, 0, 8)
		made := testing.AllocsPerRun(100, func() {
			copy(b, p.packet)
			copies, _ = p.router.Route(copies[:0], b, multicast.Host)
		})
		if made != 0 || len(copies) == 0 {
			t.Errorf("%s: %v allocations a packet with %d copies", kind, made, len(copies))
		}
	}
}

// TestCopiesKeepTheirMemory: copies are unchanged if later copies of the same packet need more
// memory.
func TestCopiesKeepTheirMemory(t *testing.T) {
	n := network(star(40))
	d := newDomain(t, n, Options{})
	var all []int
	for i := range 41 {
		all = append(all, i)
	}
	headers, _, err := d.Plan(0, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []int{10, 1000, 100} {
		packet := append(slices.Clone(headers[0]), bytes.Repeat([]byte{7}, payload)...)
		copies, _ := d.Router(0).Route(nil, packet, multicast.Host)
		if len(copies) != 40 {
			t.Fatalf("%d copies", len(copies))
		}
		for _, c := range copies {
			var h Header
			if _, err := h.Parse(c.Packet); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, 8)
			setBit(want, c.Port+1)
			if !bytes.Equal(h.Bits, want) || len(c.Packet) != len(headers[0])+payload {
				t.Errorf("port %d: bits %x, want %x", c.Port, h.Bits, want)
			}
		}
	}
}

// FuzzRoute routes untrusted packets on any port, with routers of both kinds.
func FuzzRoute(f *testing.F) {
	kinds := planned(f)
	for _, p := range kinds {
		f.Add(p.packet, 0)
		f.Add(p.packet, multicast.Host)
	}
	f.Fuzz(func(t *testing.T, b []byte, in int) {
		for kind, p := range kinds {
			packet := bytes.Clone(b)
			var before Header
			if _, err := before.Parse(bytes.Clone(b)); err != nil {
				if copies, v := p.router.Route(nil, packet, in); len(copies) != 0 || v.Deliver || v.Drop != multicast.Malformed && v.Drop != multicast.Version {
					t.Fatalf("%s: %+v of %v", kind, v, err)
				}
				continue
			}
			copies, v := p.router.Route(nil, packet, in)
			if len(copies) > 3 || v.Drop != multicast.None && len(copies) > 0 || v.Drop == multicast.None && len(copies) == 0 && !v.Deliver {
				t.Fatalf("%s: %+v and %d copies", kind, v, len(copies))
			}
			var ports []int
			for _, c := range copies {
				var h Header
				if _, err := h.Parse(c.Packet); err != nil || len(c.Packet) != len(b) || c.Port < 0 || c.Port > 2 || slices.Contains(ports, c.Port) {
					t.Fatalf("%s: port %d: %x: %v", kind, c.Port, c.Packet, err)
				}
				ports = append(ports, c.Port)
				if h.TTL > before.TTL || in != multicast.Host && h.TTL == before.TTL {
					t.Fatalf("%s: TTL %d of %d", kind, h.TTL, before.TTL)
				}
				for i := range h.Bits {
					if h.Bits[i]&^before.Bits[i] != 0 {
						t.Fatalf("%s: bits %x of %x", kind, h.Bits, before.Bits)
					}
				}
			}
		}
	})
}

// TestRandomPackets: packets with random bits and random tables only cause deliveries and drops.
func TestRandomPackets(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	n := small()
	d, e := newDomain(t, n, Options{}), newEngineered(t, n)
	for range 2000 {
		h := Header{BIFT: bift(64, r.IntN(2), 0), TTL: uint8(r.IntN(9)), Bits: make([]byte, 8)}
		for i := range h.Bits {
			h.Bits[i] = byte(r.Uint32() & r.Uint32())
		}
		packet, err := h.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		source := r.IntN(8)
		for node, got := range send(t, n, d.Router, source, packet).delivered {
			if got > 1 || got == 1 && (h.BIFT>>8&255 != plain || h.Bits[7]>>node&1 == 0) {
				t.Errorf("node %d had %+v from %d %d times", node, h, source, got)
			}
		}
		send(t, n, e.Router, source, packet)
	}
}
