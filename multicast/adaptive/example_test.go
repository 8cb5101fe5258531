package adaptive_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// How do I get a design for my distribution of set sizes, and codewords of it?
func Example() {
	histogram := strings.NewReader("# links  packets\n1 500\n2 300\n5 120\n20 40\n60 1\n")
	weights, err := adaptive.ReadWeights(histogram)
	if err != nil {
		log.Fatal(err)
	}
	design, err := adaptive.Optimum(adaptive.Requirements{Objective: adaptive.Hashed, Rate: 0.01, Weights: weights})
	if err != nil {
		log.Fatal(err)
	}
	sampler, err := design.Sampler()
	if err != nil {
		log.Fatal(err)
	}
	// The filter of two links: the OR of their codewords, cut.
	network := inpacket.Key{1, 2, 3}
	a := sampler.Codeword(network.Derive([]byte("a to b")).Codeword(0), 0)
	b := sampler.Codeword(network.Derive([]byte("b to c")).Codeword(0), 0)
	m, _ := design.Truncate(2)
	filter := make([]uint64, (m+63)/64)
	for i := range filter {
		filter[i] = a[i] | b[i]
	}
	filter[len(filter)-1] &= 1<<(m%64) - 1
	fmt.Println("bits of 1 and 2 links:", design.Ends[0], m)
	fmt.Printf("mean %.0f, of plain filters ", design.Lengths().Mean(weights))
	plain, err := adaptive.AnyLength(60, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f\n", plain.Mean(weights))
	// Output:
	// bits of 1 and 2 links: 14 25
	// mean 37, of plain filters 27
}
