package multicast

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

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
