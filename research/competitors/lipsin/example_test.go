package lipsin_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/research/competitors/lipsin"
)

func Example() {
	network := inpacket.Key{1, 2, 3}
	design := lipsin.LIPSIN()
	link := func(name string) []inpacket.BitString {
		return design.Codewords(network.Derive([]byte(name)).Codeword(0))
	}
	var tree, others [][]inpacket.BitString
	for i := range 42 {
		tree = append(tree, link(fmt.Sprint("tree ", i)))
	}
	for i := range 100 {
		others = append(others, link(fmt.Sprint("next to it ", i)))
	}
	best, err := design.Choose(tree, others)
	if err != nil {
		panic(err)
	}
	fmt.Printf("by rate:  set %d, fill %.2f, rate %.3f, false on %d\n", best.ByRate.Set, best.ByRate.Fill, best.ByRate.Rate, best.ByRate.False)
	fmt.Printf("by tests: set %d, fill %.2f, rate %.3f, false on %d\n", best.ByTests.Set, best.ByTests.Fill, best.ByTests.Rate, best.ByTests.False)

	// The router of a node matches its own links.
	header := inpacket.Header{TTL: 32, Group: 7}
	best.ByTests.Put(&header)
	table := design.Table([][]inpacket.BitString{tree[0], others[0], tree[1]})
	held := make([]uint64, 1)
	table.Match(held, &header)
	fmt.Printf("links held: %03b\n", held[0])
	// Output:
	// by rate:  set 6, fill 0.53, rate 0.043, false on 6
	// by tests: set 7, fill 0.57, rate 0.062, false on 2
	// links held: 101
}
