package partitioned_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/partitioned"
)

// How do I make a filter and query it?
func Example() {
	shape, err := partitioned.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := partitioned.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	fmt.Println(f.HasString("alice"), f.HasString("bob"))
	// Output: true false
}

// Which cells does a key set? One in each of k slices.
func ExampleFilter_Locate() {
	f, err := partitioned.NewShape(partitioned.Shape{M: 400, K: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Locate(nil, f.Hasher().HashString("alice")))
	// Output: [37 199 213 346]
}
