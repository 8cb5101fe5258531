package scheme_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// What does one tree cost, by each scheme?
func ExampleAll() {
	g, err := topology.Grid(10, 10)
	if err != nil {
		panic(err)
	}
	network := multicast.NewNetwork(g, inpacket.Key{1, 2, 3}, 7)
	t, err := tree.ShortestPath(g, 0, []int{5, 27, 50, 66, 93}, tree.Hops)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(t.Steps), "links")
	for _, s := range scheme.All() {
		d, err := s.Domain(network, network)
		if err != nil {
			panic(err)
		}
		p, err := d.Plan(t, 1)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-8s %4d bits, %d false\n", s.Name(), p.Bits, p.False)
	}
	// Output:
	// 25 links
	// umbel      53 bits, 0 false
	// lipsin    256 bits, 0 false
	// adaptive  595 bits, 0 false
	// bier      128 bits, 0 false
	// bier-te   512 bits, 0 false
}

// A scheme with options, as the command has them.
func ExampleByName() {
	s, err := scheme.ByName("lipsin", scheme.Options{ByRate: true, Routers: scheme.Routers{Window: 100}})
	fmt.Println(s.Name(), err)
	_, err = scheme.ByName("flood", scheme.Options{})
	fmt.Println(err)
	// Output:
	// lipsin <nil>
	// scheme: unknown scheme "flood", want one of umbel, lipsin, adaptive, bier, bier-te
}
