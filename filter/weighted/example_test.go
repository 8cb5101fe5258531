package weighted_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/plan"
)

// How do I give known hot keys more cells?
func Example() {
	shape, err := weighted.Plan(umbel.Goal{Keys: 100_000, Bytes: 100_000},
		weighted.Class{Members: 99_999, Queries: 60}, // all others
		weighted.Class{Members: 1, Queries: 40},      // the hot keys, hardly ever there, get 40 % of the queries
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"/", "/favicon.ico", "/robots.txt"} {
		shape.Hot = append(shape.Hot, weighted.Hot{Digest: shape.Hasher.HashString(key), Class: 1})
	}
	f, err := weighted.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("/about")
	fmt.Println(f.HasString("/about"), f.HasString("/favicon.ico"))
	fmt.Printf("%d cells for most keys, %d for the hot ones\n", shape.Classes[0].K, shape.Classes[1].K)
	// Output:
	// true false
	// 6 cells for most keys, 23 for the hot ones
}

// How do I assign classes by prefixes of keys?
func ExampleNew_prefixes() {
	shape, err := weighted.Plan(umbel.Goal{Keys: 10_000, FPRate: 0.01},
		weighted.Class{Members: 50, Queries: 10},
		weighted.Class{Members: 40, Queries: 10},
		weighted.Class{Members: 10, Queries: 80},
	)
	if err != nil {
		log.Fatal(err)
	}
	shape.Prefixes = []weighted.Prefix{{Prefix: "user/", Class: 1}, {Prefix: "user/session/", Class: 2}}
	f, err := weighted.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("user/session/4711")
	for _, key := range []string{"page/1", "user/alice", "user/session/4711"} {
		class, _ := f.Class([]byte(key))
		fmt.Println(key, class, f.HasString(key))
	}
	// Output:
	// page/1 0 false
	// user/alice 1 false
	// user/session/4711 2 true
}

// How do I name the class of each key?
func ExampleFilter_AddClass() {
	f, err := weighted.NewShape(weighted.Shape{M: 64_000, Classes: []weighted.Class{{K: 4}, {K: 12}}})
	if err != nil {
		log.Fatal(err)
	}
	class := func(key string) int { return len(key) % 2 } // always the same for a key
	for _, key := range []string{"alice", "bob!"} {
		f.AddClass(f.Hasher().HashString(key), class(key))
	}
	d := f.Hasher().HashString("alice")
	fmt.Println(f.HasClass(d, class("alice")), f.Has(d))
	// Output: true true
}

// What do classes gain compared with a plain filter of the same size?
func ExamplePlan() {
	classes := []weighted.Class{{Members: 990, Queries: 50}, {Members: 10, Queries: 50}}
	shape, err := weighted.Plan(umbel.Goal{Keys: 1000, Bytes: 1000}, classes...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("weighted %.4f, plain %.4f\n", shape.Forecast(1000).FPRate, plan.Filter{M: 8000, K: 6}.FPRate(1000))
	// Output: weighted 0.0114, plain 0.0216
}
