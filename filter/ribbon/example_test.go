package ribbon_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
)

// How do I make a filter for receivers that only query? Add all keys, seal it, and send it.
func Example() {
	goal := umbel.Goal{Keys: 100_000, FPRate: 0.01}
	shape, err := ribbon.Plan(goal)
	if err != nil {
		panic(err)
	}
	f, err := ribbon.NewShape(shape)
	if err != nil {
		panic(err)
	}
	for i := range 100_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	if err := f.Seal(); err != nil {
		panic(err)
	}
	b, err := f.MarshalBinary()
	if err != nil {
		panic(err)
	}
	plain, err := bloom.Plan(goal)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f bits a key, wrong %.1f %% of the time; a Bloom filter takes %.2f\n",
		float64(len(b))*8/100_000, 100*f.Stats().FPRate, float64(plain.M)/100_000)

	var g ribbon.Filter
	if err := g.UnmarshalBinary(b); err != nil {
		panic(err)
	}
	fmt.Println(g.HasString("key 7"), g.HasString("no key"))

	// Keys that are added after Seal are kept in a list of 16 bytes per key.
	g.AddString("no key")
	fmt.Printf("%v %.0f\n", g.HasString("no key"), g.Stats().Keys)
	// Output:
	// 6.77 bits a key, wrong 1.0 % of the time; a Bloom filter takes 9.60
	// true false
	// true 100001
}
