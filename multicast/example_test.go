package multicast_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// A tree becomes a header, and the router of each node matches its own links.
func Example() {
	g, err := topology.Grid(3, 3)
	if err != nil {
		panic(err)
	}
	network := multicast.NewNetwork(g, inpacket.Key{1, 2, 3}, 7)
	t, err := tree.ShortestPath(g, 0, []int{2, 4}, tree.Hops)
	if err != nil {
		panic(err)
	}
	found, err := inpacket.Search(network.Task(t), inpacket.Options{})
	if err != nil {
		panic(err)
	}
	header := inpacket.Header{TTL: uint8(t.Depth()), Form: found.Form, K: found.K, Seed: found.Seed,
		Bits: found.Bits, Filter: found.Filter, Epoch: network.Epoch, Group: 9}
	packet, err := header.AppendBinary(nil)
	if err != nil {
		panic(err)
	}

	// Node 1 is in the middle of the upper row: its ports go to 0, 2 and 4.
	node, err := multicast.NewNode(multicast.Config{Ports: 3, Keys: []multicast.Keys{network.Keys(1)}})
	if err != nil {
		panic(err)
	}
	fmt.Println(node.Explain(packet, 0))
	copies, _ := node.Route(nil, packet, 0)
	for _, c := range copies {
		fmt.Println("copy to node", network.Ports(1)[c.Port].Neighbor)
	}
	counts := node.Counters().Read()
	fmt.Println(counts.Packets, "packet,", counts.Copies, "copies,", counts.Drops(), "dropped")
	// Output:
	// not back on port 0; out on port 1; out on port 2
	// copy to node 2
	// copy to node 4
	// 1 packet, 2 copies, 0 dropped
}
