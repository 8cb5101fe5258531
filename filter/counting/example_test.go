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
	fmt.Println(f.CountString("alice"), f.CountString("bob"))
	n, exact := f.Additions()
	fmt.Println(n, exact)
	// Output:
	// 100 0
	// 100 true
}

// How do I send only what others need to ask, and then only what changed?
func ExampleFilter_View() {
	f, err := counting.NewShape(counting.Shape{M: 1 << 20, K: 5, Group: 6})
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	view := f.View()
	b, err := view.Filter().MarshalBinary() // a bloom filter
	if err != nil {
		log.Fatal(err)
	}
	sent := view.Mark()

	var there bloom.Filter
	if err := there.UnmarshalBinary(b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(there.HasString("alice"))

	f.AddString("bob")
	fmt.Println(len(view.Changed(nil, sent)), "of", f.Shape().M/counting.ViewBlock, "blocks changed")
	// Output:
	// true
	// 5 of 256 blocks changed
}

// How do I put two sets together, and take one away again?
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
	fmt.Println(ours.Difference(theirs.State()) != nil) // bob isn't there any more
	// Output:
	// true true
	// true false
	// true
}

// Which keys may be in both of two sets?
func ExampleFilter_Min() {
	shape := counting.Shape{M: 1 << 16, K: 7}
	a, err := counting.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	b, err := counting.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	a.AddString("alice")
	a.AddString("bob")
	b.AddString("bob")
	b.AddString("carol")
	both, err := a.Min(b.State())
	if err != nil {
		log.Fatal(err)
	}
	h := a.Hasher()
	fmt.Println(both.Has(h.HashString("alice")), both.Has(h.HashString("bob")), both.Has(h.HashString("carol")))
	// Output: false true false
}
