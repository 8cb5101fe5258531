package dataplane_test

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TestSchemes sends packets of every scheme to all receivers: once, and over the links of the tree, if the
// scheme has no false matches.
func TestSchemes(t *testing.T) {
	t.Run("umbel", func(t *testing.T) { testScheme(t, scheme.Umbel{}, true) })
	t.Run("adaptive", func(t *testing.T) { testScheme(t, &scheme.Adaptive{}, false) })
}

func testScheme(t *testing.T, s scheme.Scheme, exact bool) {
	const packets = 1000
	g := graph(t)(topology.Grid(4, 5))
	receivers := []int{4, 9, 12, 15, 19}
	network := multicast.NewNetwork(g, inpacket.Key{4}, 1)
	domain, err := s.Domain(network, network)
	if err != nil {
		t.Fatal(err)
	}
	way, err := tree.ShortestPath(g, 0, receivers, tree.Hops)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := domain.Plan(way, group)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Headers) != 1 {
		t.Fatalf("%d headers for a small tree", len(plan.Headers))
	}
	domain.Receive(group, receivers)

	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 64, Receivers: len(receivers), Patience: noLoss})
	if err != nil {
		t.Fatal(err)
	}
	type arrival struct{ node, number int }
	var mu sync.Mutex
	arrived := make(map[arrival]int)
	f, err := dataplane.StartCluster(t.Context(), dataplane.ClusterConfig{
		Graph:  g,
		Router: domain.Router,
		Deliver: func(node int, packet []byte) {
			mu.Lock()
			defer mu.Unlock()
			a := arrival{node, int(binary.BigEndian.Uint32(packet[len(packet)-4:]))}
			if arrived[a]++; arrived[a] == 1 {
				pacer.Delivered()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Node(0).Send(t.Context(), pacer, packets, func(i int) []byte {
		return binary.BigEndian.AppendUint32(slices.Clone(plan.Headers[0]), uint32(i))
	}); err != nil {
		t.Fatal(err)
	}
	if err := pacer.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(arrived) != packets*len(receivers) {
		t.Errorf("%d of %d packets came to %d receivers", len(arrived), packets, len(receivers))
	}
	for a, times := range arrived {
		if !slices.Contains(receivers, a.node) || exact && times > 1 {
			t.Fatalf("packet %d came to node %d %d times", a.number, a.node, times)
		}
	}
	c := f.Counters()
	t.Logf("%d bits, %d copies over %d links of the tree", plan.Bits, c.Sent, len(way.Steps))
	if exact && c.Sent != packets*uint64(len(way.Steps)) {
		t.Errorf("%d copies of %d packets over a tree of %d links", c.Sent, packets, len(way.Steps))
	}
}
