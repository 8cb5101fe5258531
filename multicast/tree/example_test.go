package tree_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func ExampleShortestPath() {
	g, err := topology.Grid(3, 3)
	if err != nil {
		log.Fatal(err)
	}
	corner, _ := g.Find("0-0")
	across, _ := g.Find("2-2")
	near, _ := g.Find("1-2")
	t, err := tree.ShortestPath(g, corner, []int{across, near}, tree.Hops)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range t.Steps {
		from, to := g.Ends(s.Arc)
		fmt.Println(s.Hop, g.Nodes[from].Name, "to", g.Nodes[to].Name)
	}
	for hop, arcs := range t.Adjacent() {
		fmt.Println("at hop", hop, len(arcs), "other links are tested")
	}
	// Output:
	// 0 0-0 to 0-1
	// 1 0-1 to 0-2
	// 2 0-2 to 1-2
	// 3 1-2 to 2-2
	// at hop 0 1 other links are tested
	// at hop 1 1 other links are tested
	// at hop 2 0 other links are tested
	// at hop 3 1 other links are tested
}

func ExampleFinder_Backup() {
	g, err := topology.Ring(5)
	if err != nil {
		log.Fatal(err)
	}
	failed, _ := g.Between(0, 1)
	way, ok := tree.NewFinder(g, tree.Hops).Backup(failed)
	fmt.Println(len(way), ok)
	// Output: 4 true
}
