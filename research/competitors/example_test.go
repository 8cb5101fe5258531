package competitors_test

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/competitors"
)

// Are headers that contain links longer than headers that contain receivers, and do packets
// stay on their trees?
func Example() {
	g, err := topology.BarabasiAlbert(100, 2, 1)
	if err != nil {
		panic(err)
	}
	run := func(s scheme.Scheme) sim.Result {
		r, err := sim.Experiment{Graph: g, Scheme: s, Receivers: 8, Trees: 20, Seed: 1}.Run(context.Background(), nil)
		if err != nil {
			panic(err)
		}
		return r
	}
	umbel, bier := run(scheme.Umbel{}), run(competitors.BIER{})
	fmt.Printf("bier: %.0f bits, efficiency %.2f\n", bier.MeanBits, bier.Efficiency)
	fmt.Printf("umbel: shorter %v, efficiency %.2f\n", umbel.MeanBits < bier.MeanBits, umbel.Efficiency)
	// Output:
	// bier: 128 bits, efficiency 1.00
	// umbel: shorter true, efficiency 1.00
}
