package multicast

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

func TestDrops(t *testing.T) {
	cs := links(4)
	ones := single(120)
	for i := range ones.Filter {
		ones.Filter[i] = 0xff
	}
	over := single(120, cs...)
	for i := range 12 { // 96 of 120 bits
		over.Filter[i] = 0xff
	}
	full := single(120)
	for i := range 11 { // 88 of 120, and two more: three quarters
		full.Filter[i] = 0xff
	}
	full.Filter[11] = 3
	good := single(120, cs[0])
	edit := func(h inpacket.Header, change func(*inpacket.Header)) []byte {
		h.Filter = slices.Clone(h.Filter)
		change(&h)
		return pack(t, h)
	}
	same := func(*inpacket.Header) {}
	version := edit(good, same)
	version[0] = 2<<4 | version[0]&15
	reserved := edit(good, same)
	reserved[0] |= 1
	sequenced := func(h *inpacket.Header) { h.Sequenced, h.Source, h.Sequence = true, 1, 1 }
	tests := []struct {
		name   string
		packet []byte
		want   Reason
	}{
		{"nothing wrong", edit(good, same), None},
		{"three quarters full", edit(full, same), None},
		{"nothing there", nil, Malformed},
		{"only a version", []byte{1 << 4}, Malformed},
		{"fixed part cut off", edit(good, same)[:inpacket.FixedSize-1], Malformed},
		{"filter cut off", edit(good, same)[:inpacket.FixedSize+8], Malformed},
		{"sequence cut off", edit(good, sequenced)[:inpacket.FixedSize+20], Malformed},
		{"reserved flag", reserved, Malformed},
		{"unknown version", version, Version},
		{"unknown epoch", edit(good, func(h *inpacket.Header) { h.Epoch = 2 }), Epoch},
		{"TTL used up", edit(good, func(h *inpacket.Header) { h.TTL = 0 }), Expired},
		{"all ones", edit(ones, same), AllOnes},
		{"over-full", edit(over, same), Overfull},
		{"no stored codewords", edit(good, func(h *inpacket.Header) { h.Form, h.K = inpacket.Dense, 0 }), Unknown},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, Config{Ports: 4, Keys: []Keys{{Epoch: 1, Ports: cs}}})
			n.Join(9)
			for _, in := range []int{Host, 2} {
				copies, v := n.Route(nil, slices.Clone(c.packet), in)
				if v.Drop != c.want {
					t.Fatalf("dropped as %q, want %q", v.Drop, c.want)
				}
				if c.want != None && (len(copies) != 0 || v.Deliver) {
					t.Errorf("dropped, but %d copies, delivered %v", len(copies), v.Deliver)
				}
			}
			got, want := n.Counters().Read(), uint64(2)
			if c.want == None {
				want = 0
			}
			if got.Packets != 2 || got.Dropped[c.want] != want || got.Drops() != want {
				t.Errorf("counts %+v, want %d drops as %q", got, want, c.want)
			}
		})
	}
}

func TestUnknownSetsAndLengths(t *testing.T) {
	n := newNode(t, Config{Ports: 3, Keys: []Keys{{Epoch: 1, Dense: dense(1, 200, 2, 3), DenseBits: 200}}})
	tests := []struct {
		name string
		h    inpacket.Header
		want Reason
	}{
		{"a set there is", inpacket.Header{Form: inpacket.Dense, Seed: 1, Bits: 200}, None},
		{"no such set", inpacket.Header{Form: inpacket.Dense, Seed: 2, Bits: 200}, Unknown},
		{"longer than codewords", inpacket.Header{Form: inpacket.Dense, Bits: 201}, Unknown},
		{"no codewords of links", inpacket.Header{Form: inpacket.Single, K: 1, Bits: 200}, Unknown},
		{"no codewords of links, staged", inpacket.Header{Form: inpacket.Staged, K: 1, Bits: 12}, Unknown},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			c.h.TTL, c.h.Epoch, c.h.Filter = 3, 1, make([]byte, (c.h.Bits+7)/8)
			if _, v := n.Route(nil, pack(t, c.h), Host); v.Drop != c.want {
				t.Errorf("dropped as %q, want %q", v.Drop, c.want)
			}
		})
	}
}

// TestFloodOfOnes: a filter of ones of any length, which an attacker without a key may try
// first, is dropped.
func TestFloodOfOnes(t *testing.T) {
	n := newNode(t, Config{Ports: 9, Keys: []Keys{{Epoch: 1, Ports: links(9), Dense: dense(2, 256, 1, 9), DenseBits: 256}}})
	sent := uint64(0)
	for bits := 1; bits <= 2048; bits++ {
		for _, form := range []inpacket.Form{inpacket.Single, inpacket.Folded, inpacket.Linear, inpacket.Dense} {
			h := inpacket.Header{TTL: 255, Form: form, K: 1, Bits: bits, Epoch: 1, Filter: bytes.Repeat([]byte{0xff}, (bits+7)/8)}
			if used := bits & 7; used != 0 {
				h.Filter[len(h.Filter)-1] = 1<<used - 1
			}
			if form == inpacket.Dense {
				h.K = 0
			}
			if form == inpacket.Folded && inpacket.FoldBase%bits != 0 {
				continue
			}
			copies, v := n.Route(nil, pack(t, h), Host)
			if len(copies) != 0 || v.Drop != AllOnes {
				t.Fatalf("form %d, %d ones: %d copies, dropped as %q", form, bits, len(copies), v.Drop)
			}
			sent++
		}
	}
	if c := n.Counters().Read(); c.Copies != 0 || c.Dropped[AllOnes] != sent {
		t.Errorf("counts %+v, want %d dropped as all ones", c, sent)
	}
}

func TestAnyFill(t *testing.T) {
	n := newNode(t, Config{Ports: 9, AnyFill: true, Keys: []Keys{{Epoch: 1, Ports: links(9)}}})
	h := single(64)
	for i := range h.Filter {
		h.Filter[i] = 0xff
	}
	if copies, v := n.Route(nil, pack(t, h), 4); len(copies) != 0 || v.Drop != AllOnes {
		t.Errorf("all ones: %d copies, dropped as %q, want none, and as all ones", len(copies), v.Drop)
	}
	h.Filter[7] = 0x7f
	if copies, v := n.Route(nil, pack(t, h), 4); len(copies) < 4 || v.Drop != None {
		t.Errorf("63 ones of 64: %d copies, dropped as %q, want most of 8 and no drop", len(copies), v.Drop)
	}
}

// TestBounds: routers drop headers that match more than one link in eight and headers with a TTL
// above the network's diameter. Packets from a sender without keys therefore end.
func TestBounds(t *testing.T) {
	g, err := topology.Grid(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	net := NewNetwork(g, inpacket.Key{1}, 1)
	bounds := Config{MaxFalseMatch: 1. / 8, MaxTTL: 8}
	route := func(h inpacket.Header) Reason {
		c := bounds
		c.Ports, c.Keys = len(net.Ports(12)), []Keys{net.Keys(12)}
		_, v := newNode(t, c).Route(nil, pack(t, h), Host)
		return v.Drop
	}
	half := bytes.Repeat([]byte{0x5a}, 8)
	for _, c := range []struct {
		name string
		h    inpacket.Header
		want Reason
	}{
		{"one plane", inpacket.Header{TTL: 8, Form: inpacket.Linear, K: 0}, TooLoose},
		{"two planes", inpacket.Header{TTL: 8, Form: inpacket.Linear, K: 1}, TooLoose},
		{"three planes", inpacket.Header{TTL: 8, Form: inpacket.Linear, K: 8}, None},
		{"two positions", inpacket.Header{TTL: 8, K: 2}, TooLoose},
		{"three positions", inpacket.Header{TTL: 8, K: 3}, None},
		{"a TTL too high", inpacket.Header{TTL: 9, K: 3}, TooFar},
	} {
		c.h.Bits, c.h.Filter, c.h.Epoch = 64, half, 1
		if got := route(c.h); got != c.want {
			t.Errorf("%s: dropped as %q, want %q", c.name, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	total := 0
	for seed := range uint16(200) {
		filter := make([]byte, 8)
		for i := range filter {
			filter[i] = byte(r.Uint32())
		}
		for _, h := range []inpacket.Header{{K: 3}, {Form: inpacket.Linear, K: 8}} {
			h.TTL, h.Bits, h.Filter, h.Epoch, h.Seed = 8, 64, filter, 1, seed
			n, _ := spread(t, net, bounds, h, 10_000)
			total += n
		}
	}
	// A node has 3.2 links on average, of which an eighth match: 0.4 at the first, and
	// each copy makes 0.28 more.
	if mean := float64(total) / 400; mean > 2 {
		t.Errorf("%.2f copies per packet on average, want below 2", mean)
	}
}

// spread carries a packet from the middle node of a grid, up to a number of copies. It returns
// the number of copies and the largest number on one arc.
func spread(t *testing.T, net *Network, c Config, h inpacket.Header, enough int) (copies, most int) {
	nodes := make([]*Node, len(net.Graph.Nodes))
	for v := range nodes {
		c.Ports, c.Keys = len(net.Ports(v)), []Keys{net.Keys(v)}
		nodes[v] = newNode(t, c)
	}
	type way struct {
		node, in int
		packet   []byte
	}
	carried := make([]int, 2*len(net.Graph.Links))
	for queue := []way{{len(nodes) / 2, Host, pack(t, h)}}; len(queue) > 0 && copies < enough; queue = queue[1:] {
		at := queue[0]
		out, _ := nodes[at.node].Route(nil, at.packet, at.in)
		for _, c := range out {
			copies++
			p := net.Ports(at.node)[c.Port]
			carried[p.Arc]++
			in := slices.IndexFunc(net.Ports(p.Neighbor), func(q topology.Port) bool { return q.Neighbor == at.node })
			queue = append(queue, way{p.Neighbor, in, slices.Clone(c.Packet)})
		}
	}
	return copies, slices.Max(carried)
}

// TestStorms carries the worst packets of an attacker who knows the largest permitted fill but
// no key. Only the TTL ends them, unless all nodes require sequences. Then a node accepts each
// packet once, so that no arc carries two copies.
func TestStorms(t *testing.T) {
	const enough = 10_000
	g, err := topology.Grid(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	net := NewNetwork(g, inpacket.Key{1}, 1)
	storm := func(c Config, h inpacket.Header) (copies, most int) { return spread(t, net, c, h, enough) }
	full := inpacket.Header{TTL: 255, K: 1, Bits: 64, Epoch: 1, Filter: bytes.Repeat([]byte{0xbd}, 8)}
	plane := inpacket.Header{TTL: 255, Form: inpacket.Linear, Bits: 64, Epoch: 1, Filter: bytes.Repeat([]byte{0x5a}, 8)}
	storms := 0
	for seed := range uint16(10) {
		for _, h := range []inpacket.Header{full, plane} {
			h.Seed = seed
			if n, _ := storm(Config{}, h); n >= enough {
				storms++
			}
			if n, _ := storm(Config{Window: 9, OnlySequenced: true}, h); n != 0 {
				t.Errorf("form %d, seed %d: %d copies without a sequence, want 0", h.Form, seed, n)
			}
			h.Sequenced, h.Source, h.Sequence = true, 1, 1
			if n, most := storm(Config{Window: 9, OnlySequenced: true}, h); most > 1 {
				t.Errorf("form %d, seed %d: %d copies, up to %d on an arc, want 1", h.Form, seed, n, most)
			}
		}
	}
	if storms == 0 {
		t.Error("no storm without windows: the packets are too mild to show anything")
	}
}

func TestOnlySequenced(t *testing.T) {
	cs := links(4)
	n := newNode(t, Config{Ports: 4, Window: 2, OnlySequenced: true, Keys: []Keys{{Epoch: 1, Ports: cs}}})
	h := single(120, cs[0])
	if copies, v := n.Route(nil, pack(t, h), Host); len(copies) != 0 || v.Drop != Unsequenced {
		t.Errorf("%d copies, dropped as %q, want none, as %q", len(copies), v.Drop, Unsequenced)
	}
	h.Sequenced = true
	if copies, v := n.Route(nil, pack(t, h), Host); len(copies) != 1 || v.Drop != None {
		t.Errorf("with a sequence: %d copies, dropped as %q, want 1 and no drop", len(copies), v.Drop)
	}
	if _, err := NewNode(Config{Ports: 4, OnlySequenced: true}); !errors.Is(err, umbel.ErrGoal) {
		t.Error("a node that wants sequences and remembers none")
	}
}
