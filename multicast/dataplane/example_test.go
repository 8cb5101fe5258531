package dataplane_test

import (
	"context"
	"fmt"
	"log"
	"net/netip"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// A packet goes from one end of a line of four nodes to the other, over sockets.
func ExampleStartCluster() {
	g, err := topology.Line(4)
	if err != nil {
		log.Fatal(err)
	}
	network := multicast.NewNetwork(g, inpacket.Key{1}, 1)
	routers := make([]*multicast.Node, len(g.Nodes))
	for i := range routers {
		routers[i], err = multicast.NewNode(multicast.Config{Ports: len(network.Ports(i)), Keys: []multicast.Keys{network.Keys(i)}})
		if err != nil {
			log.Fatal(err)
		}
	}
	routers[3].Join(42)

	delivered := make(chan string)
	cluster, err := dataplane.StartCluster(context.Background(), dataplane.ClusterConfig{
		Graph:  g,
		Router: func(node int) multicast.Router { return routers[node] },
		Deliver: func(node int, packet []byte) {
			var h inpacket.Header
			n, err := h.Parse(packet)
			if err != nil {
				log.Fatal(err)
			}
			delivered <- fmt.Sprintf("node %d, group %d: %s", node, h.Group, packet[n:])
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	way, err := tree.ShortestPath(g, 0, []int{3}, tree.Hops)
	if err != nil {
		log.Fatal(err)
	}
	f, err := inpacket.Search(network.Task(way), inpacket.Options{})
	if err != nil {
		log.Fatal(err)
	}
	h := inpacket.Header{TTL: uint8(way.Depth()), Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter, Epoch: 1, Group: 42}
	packet, err := h.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := cluster.Node(0).Inject(append(packet, "hello"...)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-delivered)
	if err := cluster.Stop(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(cluster.Counters().Sent, "copies")
	// Output:
	// node 3, group 42: hello
	// 3 copies
}

// How do I get the addresses of nodes that run in processes of their own?
func ExampleNodeConfigs() {
	g, err := topology.Line(3)
	if err != nil {
		log.Fatal(err)
	}
	addresses, err := dataplane.Consecutive(netip.MustParseAddrPort("192.0.2.1:9000"), len(g.Nodes))
	if err != nil {
		log.Fatal(err)
	}
	sites, err := dataplane.NodeConfigs(g, addresses)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range sites[1].Neighbors {
		fmt.Println(n.Address)
	}
	// Output:
	// 192.0.2.1:9000
	// 192.0.2.1:9002
}

// What does the description of a node in a file look like?
func ExampleParseNodeConfig() {
	s, err := dataplane.ParseNodeConfig([]byte(`{
		"name": "Linz",
		"listen": "192.0.2.2:9000",
		"neighbors": [
			{"name": "Wien", "address": "192.0.2.1:9000"},
			{"name": "Passau", "address": "192.0.2.3:9000"}
		]
	}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Name, "has", len(s.Neighbors), "neighbors; port 1 leads to", s.Neighbors[1].Name)
	// Output: Linz has 2 neighbors; port 1 leads to Passau
}
