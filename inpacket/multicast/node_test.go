package multicast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/inpacket"
)

// links returns codewords of links with the names 0, 1, …
func links(n int) []inpacket.Codeword {
	cs := make([]inpacket.Codeword, n)
	for i := range cs {
		cs[i] = inpacket.Key{}.Derive(binary.BigEndian.AppendUint32(nil, uint32(i))).Codeword(1)
	}
	return cs
}

// dense returns stored codewords of links, four of the bits of each set.
func dense(seed uint64, bits, sets, links int) [][]inpacket.BitString {
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([][]inpacket.BitString, sets)
	for s := range all {
		for range links {
			c := make(inpacket.BitString, (bits+63)/64)
			for range 4 {
				b := r.IntN(bits)
				c[b>>6] |= 1 << (b & 63)
			}
			all[s] = append(all[s], c)
		}
	}
	return all
}

// single is the header of a filter of so many bits that holds the links.
func single(bits int, links ...inpacket.Codeword) inpacket.Header {
	h := inpacket.Header{TTL: 5, K: 4, Seed: 3, Bits: bits, Epoch: 1, Group: 9, Filter: make([]byte, (bits+7)/8)}
	for _, c := range links {
		if err := h.Or(c); err != nil {
			panic(err)
		}
	}
	return h
}

// pack returns the header as a packet with a payload.
func pack(t testing.TB, h inpacket.Header) []byte {
	t.Helper()
	b, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, "payload"...)
}

func newNode(t testing.TB, c Config) *Node {
	t.Helper()
	n, err := NewNode(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ports returns the ports of copies.
func ports(copies []Copy) []int {
	ps := []int{}
	for _, c := range copies {
		ps = append(ps, c.Port)
	}
	return ps
}

func TestRoute(t *testing.T) {
	cs := links(70)
	tests := []struct {
		name    string
		ttl     uint8
		in      int
		out     []int
		ttlOut  uint8
		deliver bool
	}{
		{"from the host the TTL stays", 5, Host, []int{3, 40, 69}, 5, false},
		{"over a link it is counted down", 5, 0, []int{3, 40, 69}, 4, true},
		{"not back", 5, 40, []int{3, 69}, 4, true},
		{"not back in the second word", 5, 69, []int{3, 40}, 4, true},
		{"TTL 1 from the host is one hop", 1, Host, []int{3, 40, 69}, 1, false},
		{"TTL 1 over a link is the last", 1, 7, []int{}, 0, true},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, Config{Ports: 70, Keys: []Keys{{Epoch: 1, Ports: cs}}})
			n.Join(9)
			h := single(2000, cs[3], cs[40], cs[69])
			h.TTL = c.ttl
			b := pack(t, h)
			copies, v := n.Route(nil, b, c.in)
			if got := ports(copies); !slices.Equal(got, c.out) {
				t.Errorf("out on %v, want %v", got, c.out)
			}
			if v.Drop != None || v.Deliver != c.deliver {
				t.Errorf("verdict %+v, want delivery %v and no drop", v, c.deliver)
			}
			h.TTL = c.ttlOut
			want := pack(t, h)
			for _, p := range copies {
				if !bytes.Equal(p.Packet, want) {
					t.Errorf("copy %x, want %x", p.Packet, want)
				}
			}
			got, wants := n.Counters().Read(), Counts{Packets: 1, Copies: uint64(len(c.out))}
			if c.deliver {
				wants.Delivered = 1
			}
			if got != wants {
				t.Errorf("counts %+v, want %+v", got, wants)
			}
		})
	}
}

func TestRouteAppends(t *testing.T) {
	cs := links(3)
	n := newNode(t, Config{Ports: 3, Keys: []Keys{{Epoch: 1, Ports: cs}}})
	before := []Copy{{Port: 17}}
	got, _ := n.Route(before, pack(t, single(100, cs[1])), Host)
	if want := []int{17, 1}; !slices.Equal(ports(got), want) {
		t.Errorf("ports %v, want %v", ports(got), want)
	}
}

func TestGroups(t *testing.T) {
	cs := links(2)
	n := newNode(t, Config{Ports: 2, Keys: []Keys{{Epoch: 1, Ports: cs}}})
	deliver := func() bool {
		_, v := n.Route(nil, pack(t, single(100, cs[1])), 0)
		return v.Deliver
	}
	if deliver() {
		t.Error("delivered to a host that joined no group")
	}
	n.Join(9)
	n.Join(8)
	if !deliver() {
		t.Error("not delivered to a host that joined")
	}
	n.Leave(9)
	if deliver() {
		t.Error("delivered to a host that left")
	}
}

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

// TestFloodOfOnes sends filters of ones of all lengths: whatever a stranger who has
// no key may try first goes out nowhere.
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

func TestUnguarded(t *testing.T) {
	n := newNode(t, Config{Ports: 9, Unguarded: true, Keys: []Keys{{Epoch: 1, Ports: links(9)}}})
	h := single(64)
	for i := range h.Filter {
		h.Filter[i] = 0xff
	}
	if copies, v := n.Route(nil, pack(t, h), 4); len(copies) != 8 || v.Drop != None {
		t.Errorf("%d copies, dropped as %q, want 8 and no drop", len(copies), v.Drop)
	}
}

func TestDuplicates(t *testing.T) {
	cs := links(3)
	h := single(200, cs[1])
	h.Sequenced, h.Source, h.Sequence = true, 4, 70
	with := newNode(t, Config{Ports: 3, Window: 10, Keys: []Keys{{Epoch: 1, Ports: cs}}})
	without := newNode(t, Config{Ports: 3, Keys: []Keys{{Epoch: 1, Ports: cs}}})
	for _, n := range []*Node{with, without} {
		n.Join(9)
	}
	for i, want := range []Reason{None, Duplicate, Duplicate} {
		if copies, v := with.Route(nil, pack(t, h), 0); v.Drop != want || v.Deliver != (want == None) || len(copies) == 1 != (want == None) {
			t.Errorf("time %d: %d copies, %+v, want drop %q", i, len(copies), v, want)
		}
		if copies, v := without.Route(nil, pack(t, h), 0); v.Drop != None || len(copies) != 1 {
			t.Errorf("time %d without a window: %d copies, %+v", i, len(copies), v)
		}
	}
	h.Epoch = 2
	h.Sequence = 71
	with.Route(nil, pack(t, h), 0) // dropped for its epoch: not remembered
	h.Epoch = 1
	if _, v := with.Route(nil, pack(t, h), 0); v.Drop != None {
		t.Errorf("dropped as %q after a packet that was dropped itself, want none", v.Drop)
	}
}

func TestTrace(t *testing.T) {
	cs := links(2)
	h := single(200, cs[0], cs[1])
	h.Trace = &inpacket.Trace{Capacity: 2}
	b := pack(t, h)
	for _, id := range []uint32{11, 12, 13} {
		n := newNode(t, Config{ID: id, Ports: 2, Keys: []Keys{{Epoch: 1, Ports: cs}}})
		copies, v := n.Route(nil, b, 0)
		if v.Drop != None || len(copies) != 1 {
			t.Fatalf("node %d: %d copies, %+v", id, len(copies), v)
		}
		b = copies[0].Packet
	}
	var got inpacket.Header
	if _, err := got.Parse(b); err != nil {
		t.Fatal(err)
	}
	if want := []uint32{11, 12}; !slices.Equal(got.Trace.Nodes, want) {
		t.Errorf("trace %v, want %v", got.Trace.Nodes, want)
	}
	if !bytes.HasSuffix(b, []byte("payload")) {
		t.Errorf("packet %q, want its payload as it was", b)
	}
}

func TestEpochs(t *testing.T) {
	cs := links(4)
	n := newNode(t, Config{Ports: 2, Keys: []Keys{{Epoch: 1, Ports: cs[:2]}, {Epoch: 2, Ports: cs[2:]}}})
	h := single(300, cs[0], cs[3])
	for epoch, want := range map[uint16][]int{1: {0}, 2: {1}, 3: {}} {
		h.Epoch = epoch
		if copies, _ := n.Route(nil, pack(t, h), Host); !slices.Equal(ports(copies), want) {
			t.Errorf("epoch %d: out on %v, want %v", epoch, ports(copies), want)
		}
	}
	if err := n.SetKeys(Keys{Epoch: 3, Ports: cs[:2]}); err != nil {
		t.Fatal(err)
	}
	for epoch, want := range map[uint16]Reason{1: Epoch, 3: None} {
		h.Epoch = epoch
		if _, v := n.Route(nil, pack(t, h), Host); v.Drop != want {
			t.Errorf("epoch %d, keys replaced: dropped as %q, want %q", epoch, v.Drop, want)
		}
	}
}

func TestBadConfigs(t *testing.T) {
	cs := links(3)
	d := dense(1, 100, 2, 3)
	way := Detour{Port: 1, Hops: 2, Arcs: cs[:2]}
	tests := map[string]Config{
		"ports below zero":             {Ports: -1},
		"window below zero":            {Window: -1},
		"window too large":             {Window: maxSources + 1},
		"an epoch twice":               {Keys: []Keys{{Epoch: 1}, {Epoch: 1}}},
		"codewords of too few ports":   {Ports: 3, Keys: []Keys{{Ports: cs[:2]}}},
		"stored ones of too many":      {Ports: 2, Keys: []Keys{{Dense: d, DenseBits: 100}}},
		"stored ones too short":        {Ports: 3, Keys: []Keys{{Dense: d, DenseBits: 129}}},
		"stored ones of no bits":       {Ports: 3, Keys: []Keys{{Dense: d}}},
		"stored ones of too many bits": {Ports: 3, Keys: []Keys{{Dense: d, DenseBits: 1 << 16}}},
		"detours of too few ports":     {Ports: 3, Keys: []Keys{{Ports: cs, Detours: []Detour{way}}}},
		"a detour by the port itself":  {Ports: 3, Keys: []Keys{{Ports: cs, Detours: []Detour{{}, way, {}}}}},
		"a detour by no port":          {Ports: 3, Keys: []Keys{{Ports: cs, Detours: []Detour{{Port: 3, Hops: 2}, {}, {}}}}},
		"a detour of one arc":          {Ports: 3, Keys: []Keys{{Ports: cs, Detours: []Detour{{Port: 1, Hops: 1}, {}, {}}}}},
		"a detour with arcs missing":   {Ports: 3, Keys: []Keys{{Ports: cs, Detours: []Detour{{Port: 1, Hops: 3, Arcs: cs[:2]}, {}, {}}}}},
		"a detour with sets missing":   {Ports: 3, Keys: []Keys{{Dense: d, DenseBits: 100, Detours: []Detour{{Port: 1, Hops: 2, Dense: d[0][:1]}, {}, {}}}}},
		"a detour with words missing":  {Ports: 3, Keys: []Keys{{Dense: d, DenseBits: 100, Detours: []Detour{{Port: 1, Hops: 2, Dense: []inpacket.BitString{{1}, {1}}}, {}, {}}}}},
	}
	for name, c := range tests {
		if n, err := NewNode(c); err == nil || n != nil {
			t.Errorf("%s: node %v, error %v", name, n, err)
		}
	}
}

// TestAlongside changes groups, links and keys while the node routes: run with -race.
func TestAlongside(t *testing.T) {
	cs := links(4)
	n := newNode(t, Config{Ports: 4, Window: 3, Keys: []Keys{{Epoch: 1, Ports: cs}}})
	packet := pack(t, single(200, cs[0], cs[2]))
	var others sync.WaitGroup
	for i := range 3 {
		others.Go(func() {
			for j := range 300 {
				n.Join(uint32(j))
				n.SetDown(i, j&1 == 0)
				n.Leave(uint32(j))
				if err := n.SetKeys(Keys{Epoch: 1, Ports: cs}); err != nil {
					t.Error(err)
				}
				n.Counters().Read()
			}
		})
	}
	for range 2000 {
		if copies, v := n.Route(nil, slices.Clone(packet), Host); len(copies) > 2 || v.Drop != None {
			t.Fatalf("%d copies, %+v", len(copies), v)
		}
	}
	others.Wait()
}

func TestSetDownPanics(t *testing.T) {
	n := newNode(t, Config{Ports: 2})
	for _, p := range []int{-1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("port %d of 2: no panic", p)
				}
			}()
			n.SetDown(p, true)
		}()
	}
}

// forms returns packets of all forms, for a node of the given links.
func forms(t testing.TB, cs []inpacket.Codeword, stored [][]inpacket.BitString, bits int) map[string][]byte {
	t.Helper()
	h := single(200, cs[0], cs[len(cs)-1])
	all := map[string][]byte{"single": pack(t, h)}
	h.Sequenced, h.Source = true, 1
	all["sequenced"] = pack(t, h)
	h = inpacket.Header{TTL: 9, Form: inpacket.Folded, K: 4, Bits: 220, Epoch: 1, Filter: make([]byte, 28)}
	if err := h.Or(cs[0]); err != nil {
		t.Fatal(err)
	}
	all["folded"] = pack(t, h)
	h = inpacket.Header{TTL: 9, Form: inpacket.Linear, K: 9, Bits: 200, Epoch: 1, Filter: bytes.Repeat([]byte{0x35}, 25)}
	all["linear"] = pack(t, h)
	h = inpacket.Header{TTL: 1, Form: inpacket.Staged, K: 2, Bits: 12 + 52, Epoch: 1, Filter: []byte{0x45, 0x03, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa}}
	all["staged"] = pack(t, h)
	h = inpacket.Header{TTL: 9, Form: inpacket.Dense, Bits: bits, Epoch: 1, Filter: make([]byte, (bits+7)/8)}
	if err := h.OrDense(stored[0][0]); err != nil {
		t.Fatal(err)
	}
	all["dense"] = pack(t, h)
	return all
}

func TestRouteAllocatesNothing(t *testing.T) {
	cs, stored := links(16), dense(1, 248, 1, 16)
	n := newNode(t, Config{Ports: 16, Window: 4, Keys: []Keys{{Epoch: 1, Ports: cs, Dense: stored, DenseBits: 248, Detours: around(cs, stored)}}})
	n.Join(9)
	n.SetDown(0, true)
	copies := make([]Copy, 0, 16)
	for name, packet := range forms(t, cs, stored, 248) {
		t.Run(name, func(t *testing.T) {
			b := slices.Clone(packet)
			sequence := uint32(0)
			if got := testing.AllocsPerRun(100, func() {
				copy(b, packet)
				if name == "sequenced" {
					sequence++
					binary.BigEndian.PutUint32(b[len(b)-11:], sequence)
				}
				copies, _ = n.Route(copies[:0], b, Host)
			}); got != 0 {
				t.Errorf("%v allocations a packet, want none", got)
			}
		})
	}
	if c := n.Counters().Read(); c.Drops() != 0 || c.Repairs == 0 {
		t.Errorf("counts %+v, want no drops, and repairs", c)
	}
}

func BenchmarkRoute(b *testing.B) {
	for _, degree := range []int{4, 16, 45} {
		cs, stored := links(degree), dense(1, 248, 1, degree)
		n := newNode(b, Config{Ports: degree, Window: 4, Keys: []Keys{{Epoch: 1, Ports: cs, Dense: stored, DenseBits: 248}}})
		for _, form := range []string{"single", "folded", "linear", "staged", "dense"} {
			packet := forms(b, cs, stored, 248)[form]
			b.Run(fmt.Sprintf("%s/links=%d", form, degree), func(b *testing.B) {
				b.ReportAllocs()
				copies := make([]Copy, 0, degree)
				for b.Loop() {
					copies, _ = n.Route(copies[:0], packet, Host)
				}
			})
		}
	}
}
