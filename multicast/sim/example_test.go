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

// How long are headers of trees to 8 receivers, and do packets stay on their trees?
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
	umbel, paper := run(scheme.Umbel{}), run(&scheme.Adaptive{})
	fmt.Printf("umbel: at most 100 bits %v, efficiency %.2f\n", umbel.MeanBits <= 100, umbel.Efficiency)
	fmt.Printf("the paper's filters: at least 300 bits %v, efficiency above 0.95 %v\n", paper.MeanBits >= 300, paper.Efficiency > 0.95)
	// Output:
	// umbel: at most 100 bits true, efficiency 1.00
	// the paper's filters: at least 300 bits true, efficiency above 0.95 true
}

// Where does a packet go, hop by hop?
func ExampleFabric_Trace() {
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
	trace := sim.NewFabric(n).Trace(d, t, plan, sim.Options{})
	fmt.Print(trace.String())
	// Output:
	// hop  node  ttl  from  what
	//   0  0-0     3        to 0-1
	//   1  0-1     3  0-0   to 0-2, 1-1
	//   2  0-2     2  0-1   delivered; not to 0-1 (came from there)
	//   2  1-1     2  0-1   to 2-1
	//   3  2-1     1  1-1   delivered
}
