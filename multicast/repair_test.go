package multicast

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// around returns detours around port 0 of the given links: by port 1, over two more links.
func around(cs []inpacket.Codeword, stored [][]inpacket.BitString) []Detour {
	d := make([]Detour, len(cs))
	far := links(1000)[998:]
	d[0] = Detour{Port: 1, Hops: 3, Arcs: []inpacket.Codeword{cs[1], far[0], far[1]}}
	for s := range stored {
		way := slices.Clone(stored[s][1])
		for _, c := range dense(99, 248, len(stored), 2)[s] {
			for w := range way {
				way[w] |= c[w]
			}
		}
		d[0].Dense = append(d[0].Dense, way)
	}
	return d
}

func TestRepair(t *testing.T) {
	cs, stored := links(6), dense(5, 248, 2, 6)
	held := func(h inpacket.Header) inpacket.Header {
		h.TTL, h.Epoch, h.Filter = 4, 1, make([]byte, (h.Bits+7)/8)
		return h
	}
	add := func(h inpacket.Header, ports ...int) inpacket.Header {
		for _, p := range ports {
			err := error(nil)
			if h.Form == inpacket.Dense {
				err = h.OrDense(stored[h.Seed][p])
			} else {
				err = h.Or(cs[p])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	ttl := func(h inpacket.Header, ttl uint8) inpacket.Header {
		h.TTL = ttl
		return h
	}
	long := held(inpacket.Header{K: 5, Seed: 7, Bits: 400})
	folded := held(inpacket.Header{Form: inpacket.Folded, K: 5, Bits: 440})
	second := held(inpacket.Header{Form: inpacket.Dense, Seed: 1, Bits: 248})
	short := held(inpacket.Header{K: 8, Bits: 40})
	tests := []struct {
		name   string
		h      inpacket.Header
		in     int
		down   []int
		out    []int
		counts Counts
	}{
		{"single", add(long, 0, 2), Host, []int{0}, []int{1, 2}, Counts{Down: 1, Repairs: 1}},
		{"folded", add(folded, 0, 2), Host, []int{0}, []int{1, 2}, Counts{Down: 1, Repairs: 1}},
		{"dense", add(second, 0, 2), Host, []int{0}, []int{1, 2}, Counts{Down: 1, Repairs: 1}},
		{"no way around that port", add(held(long), 0, 2), Host, []int{2}, []int{0}, Counts{Down: 1}},
		{"the way begins with the ingress", add(held(long), 0, 2), 1, []int{0}, []int{2}, Counts{Down: 1, Unrepaired: 1}},
		{"the way is down too", add(held(long), 0, 2), Host, []int{0, 1}, []int{2}, Counts{Down: 1, Unrepaired: 1}},
		{"TTL for the way", add(ttl(held(long), 3), 0, 2), Host, []int{0}, []int{1, 2}, Counts{Down: 1, Repairs: 1}},
		{"TTL too low for the way", add(ttl(held(long), 2), 0, 2), Host, []int{0}, []int{2}, Counts{Down: 1, Unrepaired: 1}},
		{"over-full then", add(short, 0, 2, 3, 4), Host, []int{0}, []int{2, 3, 4}, Counts{Down: 1, Unrepaired: 1}},
		{"the broken link is the ingress", add(held(long), 0, 2), 0, []int{0}, []int{2}, Counts{}},
		{"nothing goes there", add(held(long), 2), Host, []int{0}, []int{2}, Counts{}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, Config{Ports: 6, Keys: []Keys{{Epoch: 1, Ports: cs, Dense: stored, DenseBits: 248, Detours: around(cs, stored)}}})
			for _, p := range c.down {
				n.SetDown(p, true)
			}
			b := pack(t, c.h)
			copies, v := n.Route(nil, b, c.in)
			if got := ports(copies); v.Drop != None || !slices.Equal(got, c.out) {
				t.Errorf("out on %v, %+v, want %v", got, v, c.out)
			}
			c.counts.Packets, c.counts.Copies = 1, uint64(len(c.out))
			if got := n.Counters().Read(); got != c.counts {
				t.Errorf("counts %+v, want %+v", got, c.counts)
			}
			checkFilter(t, c.h, b, stored, c.counts.Repairs == 1)
		})
	}
}

// checkFilter checks that the packet's filter contains the whole detour around port 0 if it was
// repaired, and is unchanged otherwise.
func checkFilter(t *testing.T, sent inpacket.Header, b []byte, stored [][]inpacket.BitString, want bool) {
	t.Helper()
	var h inpacket.Header
	if _, err := h.Parse(b); err != nil {
		t.Fatal(err)
	}
	expected := sent
	expected.Filter = slices.Clone(sent.Filter)
	if want {
		way := around(links(6), stored)[0]
		for _, c := range way.Arcs {
			if sent.Form == inpacket.Dense {
				break
			}
			if err := expected.Or(c); err != nil {
				t.Fatal(err)
			}
		}
		if sent.Form == inpacket.Dense {
			if err := expected.OrDense(way.Dense[sent.Seed]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(h.Filter, expected.Filter) {
		t.Errorf("filter %x, want %x", h.Filter, expected.Filter)
	}
}

// TestRepairStaysWithinBounds: a detour isn't added if the next router would then drop the
// packet.
func TestRepairStaysWithinBounds(t *testing.T) {
	cs := links(8)
	detours := make([]Detour, 8)
	detours[0] = Detour{Port: 1, Hops: 2, Arcs: []inpacket.Codeword{cs[1], links(99)[98]}}
	h := single(60, cs[0], cs[3])
	before := h.FalseMatch()
	for _, bound := range []float64{before, 1} {
		n := newNode(t, Config{Ports: 8, Keys: []Keys{{Epoch: 1, Ports: cs, Detours: detours}}, MaxFalseMatch: bound})
		n.SetDown(0, true)
		b := pack(t, h)
		n.Route(nil, b, Host)
		got := n.Counters().Read()
		if strict := bound == before; strict != (got.Unrepaired == 1) || strict == (got.Repairs == 1) || strict != slices.Equal(b, pack(t, h)) {
			t.Errorf("bound %g, filter of %g: counts %+v", bound, before, got)
		}
	}
}

// TestRepairNeedsOr: a detour isn't added to filters of forms to which no link can be added.
func TestRepairNeedsOr(t *testing.T) {
	cs, stored := links(16), dense(1, 248, 1, 16)
	detours := make([]Detour, 16)
	for p := range detours {
		by := (p + 1) & 15
		detours[p] = Detour{Port: by, Hops: 2, Arcs: []inpacket.Codeword{cs[by], links(99)[98]}}
	}
	for _, name := range []string{"linear", "staged"} {
		t.Run(name, func(t *testing.T) {
			packet := forms(t, cs, stored, 248)[name]
			n := newNode(t, Config{Ports: 16, Keys: []Keys{{Epoch: 1, Ports: cs, Detours: detours}}})
			copies, _ := n.Route(nil, slices.Clone(packet), Host)
			if len(copies) == 0 {
				t.Fatal("the filter holds no link")
			}
			n.SetDown(copies[0].Port, true)
			b := slices.Clone(packet)
			fewer, _ := n.Route(nil, b, Host)
			if got, want := ports(fewer), ports(copies)[1:]; !slices.Equal(got, want) {
				t.Errorf("out on %v, want %v", got, want)
			}
			if c := n.Counters().Read(); c.Unrepaired != 1 || c.Repairs != 0 || !slices.Equal(b, packet) {
				t.Errorf("counts %+v and packet %x, want one way not added and the packet as it was", c, b)
			}
		})
	}
}
