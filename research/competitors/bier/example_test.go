package bier_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors/bier"
)

func ExampleDomain() {
	g, err := topology.Ring(6)
	if err != nil {
		panic(err)
	}
	n := multicast.NewNetwork(g, inpacket.Key{1}, 0)
	d, err := bier.New(n, n, bier.Options{MaxBSL: 256})
	if err != nil {
		panic(err)
	}
	headers, bits, err := d.Plan(0, []int{1, 2, 5})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d packet, %d bits: %x\n", len(headers), bits, headers[0])
	copies, verdict := d.Router(0).Route(nil, headers[0], multicast.Host)
	for _, c := range copies {
		fmt.Printf("to node %d: %x\n", n.Ports(0)[c.Port].Neighbor, c.Packet)
	}
	fmt.Println("for node 0 too:", verdict.Deliver)
	// Output:
	// 1 packet, 64 bits: 100001ff50100000000000010000000000000026
	// to node 1: 100001ff50100000000000010000000000000006
	// to node 5: 100001ff50100000000000010000000000000020
	// for node 0 too: false
}

func ExampleTE() {
	g, err := topology.Ring(6)
	if err != nil {
		panic(err)
	}
	n := multicast.NewNetwork(g, inpacket.Key{1}, 0)
	d, err := bier.NewTE(n, n, bier.Options{})
	if err != nil {
		panic(err)
	}
	t, err := tree.ShortestPath(g, 0, []int{1, 2, 5}, tree.Hops)
	if err != nil {
		panic(err)
	}
	headers, _, err := d.Plan(t)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d of %d bits have a meaning: %x\n", d.Bits(), d.BSL(), headers[0])
	// Output:
	// 12 of 64 bits have a meaning: 101001ff501000000000000100000000000009a3
}
