package dataplane_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// BenchmarkCluster sends packets with a payload of 64 bytes through a grid of 100 nodes, from
// one corner to 20 nodes, with a window of packets in flight. An operation is 64 packets from
// the source; a hop is one copy over one link.
func BenchmarkCluster(b *testing.B) {
	g := graph(b)(topology.Grid(10, 10))
	var receivers []int
	for i := 4; i < len(g.Nodes); i += 5 {
		receivers = append(receivers, i)
	}
	l := newLab(b, g, inpacket.Linear, 0, receivers, 0)
	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 512, Receivers: len(receivers)})
	if err != nil {
		b.Fatal(err)
	}
	f, err := dataplane.StartCluster(b.Context(), dataplane.ClusterConfig{
		Graph:   g,
		Router:  func(node int) multicast.Router { return l.routers[node] },
		Deliver: func(int, []byte) { pacer.Delivered() },
	})
	if err != nil {
		b.Fatal(err)
	}
	group := make([][]byte, 64)
	for i := range group {
		group[i] = append(slices.Clone(l.header), make([]byte, 64)...)
	}
	send := func() {
		if err := pacer.Wait(b.Context(), len(group)); err != nil {
			b.Fatal(err)
		}
		if err := f.Node(0).Inject(group...); err != nil {
			b.Fatal(err)
		}
	}
	drain := func() {
		if err := pacer.Drain(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for range 10 { // until nodes have made what they keep
		send()
	}
	drain()
	before := f.Counters().Sent
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
	drain()
	c := f.Counters()
	if err := f.Stop(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(c.Sent-before)/b.Elapsed().Seconds(), "hops/s")
	b.ReportMetric(float64(pacer.Lost()), "lost")
}
