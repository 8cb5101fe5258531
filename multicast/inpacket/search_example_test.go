package inpacket_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// A packet is to go from a over b to c and d:
//
//	a --- b --- c
//	|     | \
//	e     f  d
func ExampleSearch() {
	network := inpacket.Key{1, 2, 3} // a secret of the network
	link := func(name string) inpacket.Codeword { return network.Derive([]byte(name)).Codeword(7) }
	task := inpacket.Task{
		Tree:   [][]inpacket.Codeword{{link("a to b")}, {link("b to c"), link("b to d")}},
		Others: [][]inpacket.Codeword{{link("a to e")}, {link("b to f")}},
	}
	found, err := inpacket.Search(task, inpacket.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	header := inpacket.Header{
		TTL: 2, Form: found.Form, K: found.K, Seed: found.Seed, Bits: found.Bits, Epoch: 7, Filter: found.Filter,
	}
	b := inpacket.NewTable([]inpacket.Codeword{link("b to a"), link("b to c"), link("b to d"), link("b to f")})
	match := make([]uint64, 1)
	header.TTL--
	b.Match(match, &header)
	fmt.Printf("%d bits with the seed; b sends to neighbors %04b\n", found.Cost(), match[0]&^1)
	// Output: 10 bits with the seed; b sends to neighbors 0110
}
