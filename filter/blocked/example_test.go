package blocked_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
)

// How do I query many keys at once?
func ExampleFilter_HasAll() {
	shape, err := blocked.Plan(umbel.Goal{Keys: 1_000_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := blocked.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	h := f.Hasher()
	f.AddAll(nil, []umbel.Digest{h.HashString("alice"), h.HashString("carol")})

	queries := []umbel.Digest{h.HashString("alice"), h.HashString("bob"), h.HashString("carol")}
	results := make([]bool, len(queries))
	f.HasAll(results, queries)
	fmt.Println(results)
	// Output: [true false true]
}

// How much memory does it need, compared with a plain Bloom filter?
func ExamplePlan() {
	shape, err := blocked.Plan(umbel.Goal{Keys: 1_000_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d words of %d bits, %.1f bits a key\n", shape.Words, shape.Bits, float64(shape.M)/1e6)
	// Output: 3 words of 2 bits, 10.0 bits a key
}
