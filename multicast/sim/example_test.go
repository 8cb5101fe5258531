package sim_test

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Are headers that hold links longer than headers that hold receivers, and do packets
// stay on their trees?
func ExampleExperiment_Run() {
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
	umbel, bier := run(scheme.Umbel{}), run(scheme.BIER{})
	fmt.Printf("bier: %.0f bits, efficiency %.2f\n", bier.MeanBits, bier.Efficiency)
	fmt.Printf("umbel: shorter %v, efficiency %.2f\n", umbel.MeanBits < bier.MeanBits, umbel.Efficiency)
	// Output:
	// bier: 128 bits, efficiency 1.00
	// umbel: shorter true, efficiency 1.00
}

// Where does a packet go, hop by hop?
func ExampleFabric_Trace() {
	g, err := topology.Grid(3, 3)
	if err != nil {
		panic(err)
	}
	n := multicast.NewNetwork(g, inpacket.Key{1}, 0)
	d, err := scheme.Lipsin{}.Domain(n, n)
	if err != nil {
		panic(err)
	}
	t, err := tree.ShortestPath(g, 0, []int{2, 7}, tree.Hops)
	if err != nil {
		panic(err)
	}
	const group = 9
	plan, err := d.Plan(t, group)
	if err != nil {
		panic(err)
	}
	d.Receive(group, t.Receivers)
	trace := sim.NewFabric(n).Trace(d, t, plan, sim.Options{})
	fmt.Print(trace.String())
	// Output:
	// hop  node  ttl  from  what
	//   0  0-0    32        to 0-1
	//   1  0-1    32  0-0   to 0-2, 1-1
	//   2  0-2    31  0-1   delivered
	//   2  1-1    31  0-1   to 2-1
	//   3  2-1    30  1-1   delivered
}
