package sim_test

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// How much longer are headers that hold links than headers that hold receivers?
func ExampleExperiment_Run() {
	g, err := topology.BarabasiAlbert(100, 2, 1)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"umbel", "lipsin", "bier", "bier-te"} {
		s, err := scheme.ByName(name, scheme.Options{})
		if err != nil {
			panic(err)
		}
		r, err := sim.Experiment{Graph: g, Scheme: s, Receivers: 8, Trees: 50, Seed: 1}.Run(context.Background(), nil)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-8s %3.0f bits, efficiency %.2f\n", name, r.MeanBits, r.Efficiency)
	}
	// Output:
}

// Where does a packet go, hop by hop?
func ExampleWires_Trace() {
	g, err := topology.Grid(3, 3)
	if err != nil {
		panic(err)
	}
	n := multicast.NewNetwork(g, inpacket.Key{1}, 0)
	d, err := scheme.Umbel{}.Domain(n, n)
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
	trace := sim.NewWires(n).Trace(d, t, plan, sim.Options{})
	fmt.Print(trace.String())
	// Output:
}
