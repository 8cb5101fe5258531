package multicast

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

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
		if n, err := NewNode(c); !errors.Is(err, umbel.ErrGoal) || n != nil {
			t.Errorf("%s: node %v, error %v", name, n, err)
		}
	}
}

// TestAlongside changes groups, links and keys while the node routes, for the race detector.
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
