package counting_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
)

// How do I remove a key?
func Example() {
	shape, err := counting.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := counting.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	f.AddString("bob")
	fmt.Println(f.RemoveString("alice"), f.HasString("alice"), f.HasString("bob"))
	fmt.Println(f.RemoveString("carol")) // was never added
	// Output:
	// true false true
	// false
}

// How often was a key added?
func ExampleFilter_Count() {
	f, err := counting.NewShape(counting.Shape{M: 1 << 12, K: 5, Width: 8})
	if err != nil {
		log.Fatal(err)
	}
	for range 100 {
		f.AddString("alice")
	}
	fmt.Println(f.CountString("alice")) // known is false if all counters of a key are saturated
	fmt.Println(f.CountString("bob"))
	n, exact := f.Additions()
	fmt.Println(n, exact)
	// Output:
	// 100 true
	// 0 true
	// 100 true
}

// How do I send only the bits that readers need?
func ExampleFilter_View() {
	f, err := counting.NewShape(counting.Shape{M: 1 << 20, K: 5, Group: 6})
	if err != nil {
		log.Fatal(err)
	}
	view := f.View() // a bloom filter that f keeps up to date
	f.AddString("alice")
	f.AddString("bob")
	f.RemoveString("bob")
	b, err := view.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}

	var reader bloom.Filter
	if err := reader.UnmarshalBinary(b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(reader.HasString("alice"), reader.HasString("bob"))
	// Output: true false
}

// How do I merge two sets and subtract one again?
func ExampleFilter_Difference() {
	shape := counting.Shape{M: 1 << 16, K: 7, Group: 6}
	ours, err := counting.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	theirs, err := counting.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	ours.AddString("alice")
	theirs.AddString("bob")
	if err := ours.Merge(theirs.State()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ours.HasString("alice"), ours.HasString("bob"))
	if err := ours.Difference(theirs.State()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ours.HasString("alice"), ours.HasString("bob"))
	fmt.Println(ours.Difference(theirs.State()) != nil) // bob is absent now
	// Output:
	// true true
	// true false
	// true
}
