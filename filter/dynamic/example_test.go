package dynamic_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
)

// What is the rate of a filter that has grown?
func Example() {
	shape, err := dynamic.Plan(umbel.Goal{Keys: 1000, FPRate: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	f, err := dynamic.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 10_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	fmt.Println(f.HasString("key 9999"), f.HasString("no key"))
	fmt.Printf("%d parts, rate below 0.01: %v\n", f.Layers(), f.Stats().FPRate < 0.01)
	// Output:
	// true false
	// 10 parts, rate below 0.01: true
}

// How do I remove keys from a filter that grows?
func ExampleCounting() {
	shape, err := dynamic.Plan(umbel.Goal{Keys: 1000, FPRate: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	shape.Width = 4 // bits of a counter
	f, err := dynamic.NewCountingShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 5000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	fmt.Println(f.HasString("key 7"), f.RemoveString("key 7"), f.HasString("key 7"))
	// Output: true true false
}

// What does Remove return if a key cannot be removed?
func ExampleCounting_Remove() {
	shape, err := dynamic.Plan(umbel.Goal{Keys: 100, FPRate: 0.2})
	if err != nil {
		log.Fatal(err)
	}
	shape.Width = 4
	f, err := dynamic.NewCountingShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	refused := 0
	for i := range 1000 {
		if !f.RemoveString(fmt.Sprint("key ", i)) {
			refused++
		}
	}
	fmt.Println(refused > 0, f.Stats().Keys > 0)
	// Output: true true
}
