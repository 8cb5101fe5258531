package bier

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// hub returns a graph of node 0 with next hops, over which the other nodes, leaves, are
// distributed. Packets come from node 1, an additional neighbor.
func hub(nodes, hops int) *topology.Graph {
	links := [][2]int{{0, 1}}
	for i := 2; i < nodes; i++ {
		if i < 2+hops {
			links = append(links, [2]int{0, i})
		} else {
			links = append(links, [2]int{2 + i%hops, i})
		}
	}
	return graph(nodes, links...)
}

// BenchmarkRoute measures one decision with its copies, at a node that forwards to 16 receivers
// over 4, 8 or 16 next hops. A packet is a header without payload. BIER's bit string has 256
// bits, that of BIER-TE the bits of the network.
func BenchmarkRoute(b *testing.B) {
	for _, hops := range []int{1, 4, 8, 16} {
		g := hub(250, hops)
		n := network(g)
		var receivers []int
		for i := range 16 {
			receivers = append(receivers, 2+hops+i)
		}
		b.Run(fmt.Sprintf("BIER/hops=%d", hops), func(b *testing.B) {
			d := newDomain(b, n, Options{})
			headers, bits, err := d.Plan(1, receivers)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkRoute(b, d.Router(0), headers[0], bits, hops)
		})
		b.Run(fmt.Sprintf("BIER-TE/hops=%d", hops), func(b *testing.B) {
			d := newEngineered(b, n)
			t, err := tree.ShortestPath(g, 1, receivers, tree.Hops)
			if err != nil {
				b.Fatal(err)
			}
			headers, bits, err := d.Plan(t)
			if err != nil {
				b.Fatal(err)
			}
			// As node 1 sends it on: without the bit of the link.
			first, _ := d.Router(1).Route(nil, headers[0], multicast.Host)
			benchmarkRoute(b, d.Router(0), first[0].Packet, bits, hops)
		})
	}
}

func benchmarkRoute(b *testing.B, r multicast.Router, header []byte, bits, hops int) {
	packet := make([]byte, len(header))
	copies := make([]multicast.Copy, 0, hops)
	b.ReportAllocs()
	for b.Loop() {
		copy(packet, header) // Route writes into it
		copies, _ = r.Route(copies[:0], packet, 0)
	}
	if len(copies) != hops {
		b.Fatalf("%d copies, want %d", len(copies), hops)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(hops), "ns/copy")
	b.ReportMetric(float64(bits), "bits")
}

// BenchmarkNew measures the construction of the tables, mostly of the paths.
func BenchmarkNew(b *testing.B) {
	for _, nodes := range []int{100, 800} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			g, err := topology.BarabasiAlbert(nodes, 2, 1)
			if err != nil {
				b.Fatal(err)
			}
			n := network(g)
			for b.Loop() {
				if _, err := New(n, n, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	n := network(hub(250, 16))
	d := newDomain(b, n, Options{})
	receivers := []int{20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240, 25, 45, 65, 85}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Plan(1, receivers); err != nil {
			b.Fatal(err)
		}
	}
}
