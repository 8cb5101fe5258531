package scalable_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/scalable"
)

// How do I make a filter for an unknown number of keys?
func Example() {
	shape, err := scalable.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01}) // a guess, and the rate for good
	if err != nil {
		log.Fatal(err)
	}
	f, err := scalable.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	fmt.Println(f.HasString("key 99999"), f.HasString("no key"))
	fmt.Printf("%d layers, rate below 0.01: %v\n", len(f.Layers()), f.Stats().FPRate < 0.01)
	// Output:
	// true false
	// 7 layers, rate below 0.01: true
}

// What will it cost when it has grown?
func ExampleShape_Forecast() {
	shape, err := scalable.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []uint64{1000, 100_000, 10_000_000} {
		fc := shape.Forecast(n)
		fmt.Printf("%d keys: %d bytes, rate %.4f\n", n, fc.Bytes, fc.FPRate)
	}
	// Output:
	// 1000 keys: 1920 bytes, rate 0.0006
	// 100000 keys: 266880 bytes, rate 0.0044
	// 10000000 keys: 40080000 bytes, rate 0.0062
}

// How do I limit its memory?
func ExampleFilter_TryAdd() {
	shape, err := scalable.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	shape.MaxBytes = 10_000
	f, err := scalable.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100_000 {
		if _, err := f.TryAdd(f.Hasher().HashString(fmt.Sprint("key ", i))); err != nil {
			fmt.Println(errors.Is(err, umbel.ErrLimit), f.Stats().Bytes)
			break
		}
	}
	// Output: true 5760
}

// How do I make it smaller when it is complete?
func ExampleFilter_Compact() {
	shape, err := scalable.Plan(umbel.Goal{Keys: 1000, FPRate: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	f, err := scalable.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 8000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	before := f.Stats().Bytes
	if err := f.Compact(0.01); err != nil {
		log.Fatal(err)
	}
	s := f.Stats()
	fmt.Printf("from %d bytes to %d, rate below 0.01: %v\n", before, s.Bytes, s.FPRate < 0.01)
	// Output: from 39744 bytes to 18240, rate below 0.01: true
}

// How do I merge two filters?
func ExampleFilter_Merge() {
	shape, err := scalable.Plan(umbel.Goal{Keys: 1000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	a, err := scalable.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	b, err := scalable.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	a.AddString("alice")
	b.AddString("bob")
	if err := a.Merge(b.State()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.HasString("alice"), a.HasString("bob"), len(a.Layers()))
	// Output: true true 1
}
