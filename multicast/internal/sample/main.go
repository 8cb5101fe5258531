package main

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func main() {
	const epoch, group = 7, 9
	graph, err := topology.Grid(3, 3) // nodes 0 to 8; topology.Read reads files
	if err != nil {
		log.Fatal(err)
	}
	network := multicast.NewNetwork(graph, inpacket.Key{1, 2, 3}, epoch)

	// The source plans a header for the tree to its receivers.
	t, err := tree.ShortestPath(graph, 0, []int{2, 4}, tree.Hops)
	if err != nil {
		log.Fatal(err)
	}
	found, err := inpacket.Search(network.Task(t), inpacket.Options{})
	if err != nil {
		log.Fatal(err)
	}
	header := inpacket.Header{TTL: uint8(t.Depth()), Form: found.Form, K: found.K, Seed: found.Seed,
		Bits: found.Bits, Filter: found.Filter, Epoch: epoch, Group: group}
	packet, err := header.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d links in a header of %d bytes\n", len(t.Steps), len(packet))
	packet = append(packet, "hello"...)

	// A router decides by its own links only. That of node 1 has ports to the nodes 0, 2 and 4.
	node, err := multicast.NewNode(multicast.Config{Ports: 3, Keys: []multicast.Keys{network.Keys(1)}})
	if err != nil {
		log.Fatal(err)
	}
	copies, _ := node.Route(nil, packet, 0)
	for _, c := range copies {
		fmt.Println("copy to node", network.Ports(1)[c.Port].Neighbor)
	}

	// A receiver reads the header; what follows is the payload.
	var received inpacket.Header
	n, err := received.Parse(packet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("group %d: %s\n", received.Group, packet[n:])
}
