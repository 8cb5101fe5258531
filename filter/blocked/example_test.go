package blocked_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/plan"
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

// What do blocks cost in memory, without rounding to sizes that fold well?
func ExampleSize() {
	const n, p = 1_000_000, 0.001
	plain, _ := plan.Size(n, p)
	m, err := blocked.Size(n, 4, 2, p)
	fmt.Printf("plain   %.1f bits per key, k=%d\n", float64(plain.M)/n, plain.K)
	fmt.Printf("blocked %.1f bits per key, k=%d %v\n", float64(m)/n, 4*2, err)
	// Output:
	// plain   14.4 bits per key, k=10
	// blocked 15.7 bits per key, k=8 <nil>
}
