package topology_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/umbel-filters/umbel/multicast/topology"
)

func ExampleRead() {
	const file = `graph [
  label "Three towns"
  node [ id 0 label "Town" ]
  node [ id 1 label "Town" ]
  node [ id 2 label "Lake" ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 0 ]
  edge [ source 1 target 2 ]
]`
	g, notes, err := topology.Read(strings.NewReader(file), "towns.gml")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(notes)
	if err := topology.WriteTSV(os.Stdout, g); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 repeated links merged, 1 nodes renamed
	// # Three towns: 3 nodes, 2 links
	// n	0	Town
	// n	1	Town (2)
	// n	2	Lake
	// e	0	1	1
	// e	1	2	1
}

func ExampleGraph_Fail() {
	g, err := topology.FatTree(4)
	if err != nil {
		log.Fatal(err)
	}
	failed, err := g.Fail(5, 1, true)
	if err != nil {
		log.Fatal(err)
	}
	left := g.Without(failed)
	fmt.Println(len(g.Links), len(left.Links), left.Connected())
	// Output: 48 43 true
}
