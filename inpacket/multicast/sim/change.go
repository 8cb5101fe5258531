package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// change returns what becomes of a graph: links between nodes that had none are
// added, and of the links it had, some fail. Those that fail are still in the graph it
// returns, and marked, so that routers may not know yet; without takes them out.
func change(rng *rand.Rand, g *topology.Graph, fail, add int) (after *topology.Graph, down []bool) {
	after = &topology.Graph{Name: g.Name, Nodes: g.Nodes, Links: slices.Clip(slices.Clone(g.Links))}
	joined := make(map[[2]int]bool, len(g.Links)+add)
	for _, l := range g.Links {
		joined[[2]int{l.A, l.B}] = true
	}
	for added := 0; added < add; {
		a, b := rng.IntN(len(g.Nodes)), rng.IntN(len(g.Nodes))
		ends := [2]int{min(a, b), max(a, b)}
		if a == b || joined[ends] {
			continue
		}
		joined[ends] = true
		weight := 1.0
		if len(g.Links) > 0 {
			weight = g.Links[rng.IntN(len(g.Links))].Weight
		}
		after.Links = append(after.Links, topology.Link{A: ends[0], B: ends[1], Weight: weight})
		added++
	}
	down = make([]bool, len(after.Links))
	for _, l := range rng.Perm(len(g.Links))[:fail] {
		down[l] = true
	}
	return after, down
}

// without returns a graph without the links that are down.
func without(g *topology.Graph, down []bool) *topology.Graph {
	up := &topology.Graph{Name: g.Name, Nodes: g.Nodes}
	for i, l := range g.Links {
		if !down[i] {
			up.Links = append(up.Links, l)
		}
	}
	return up
}

// checkChange says whether so many links can fail and be added.
func checkChange(g *topology.Graph, fail, add int) error {
	room := len(g.Nodes)*(len(g.Nodes)-1)/2 - len(g.Links)
	switch {
	case fail < 0 || fail > len(g.Links):
		return fmt.Errorf("sim: %d links to fail; the graph has %d: give 0 to so many", fail, len(g.Links))
	case add < 0 || add > room/2:
		return fmt.Errorf("sim: %d links to add; the graph has room for %d: give 0 to half of it", add, room)
	}
	return nil
}
