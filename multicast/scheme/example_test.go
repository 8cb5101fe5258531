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
func ExampleScheme() {
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
	for _, s := range []scheme.Scheme{scheme.Umbel{}, scheme.Umbel{MaxFalseMatch: 0.01}, &scheme.Adaptive{}} {
		d, err := s.Domain(network, network)
		if err != nil {
			panic(err)
		}
		p, err := d.Plan(t, 1)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-8s %4d bits, %d false, a new link matches with probability %.2g\n", s.Name(), p.Bits, p.False, p.FalseMatch)
	}
	// Output:
	// 25 links
	// umbel      53 bits, 0 false, a new link matches with probability 0.5
	// umbel     186 bits, 0 false, a new link matches with probability 0.0078
	// adaptive  595 bits, 0 false, a new link matches with probability 0.0033
}
