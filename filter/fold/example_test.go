package fold_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/fold"
)

// A filter was made for a million keys and contains a hundred thousand. How small is it at a rate of 1 %?
func Example() {
	f, _ := bloom.New(1_000_000, 0.01)
	for i := range 100_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	small, factor, err := fold.To(filter.All, f, umbel.Goal{FPRate: 0.01})
	if err != nil {
		panic(err)
	}
	fmt.Println("folded by", factor)
	fmt.Println(f.Stats().Bytes, "and", small.Stats().Bytes, "bytes")
	fmt.Println(small.Has(f.Hasher().HashString("key 7")))
	// Output:
	// folded by 10
	// 1202880 and 120288 bytes
	// true
}

// What does each fold of a filter cost?
func ExampleSteps() {
	f, _ := bloom.New(1000, 0.001)
	for i := range 300 {
		f.AddString(fmt.Sprint("key ", i))
	}
	steps, err := fold.Steps(filter.All, f)
	if err != nil {
		panic(err)
	}
	for _, s := range steps[:4] {
		fmt.Printf("by %d: %4d bytes, a rate of %.2g\n", s.Factor, s.Bytes, s.FPRate)
	}
	// Output:
	// by 1: 1800 bytes, a rate of 5.4e-08
	// by 3:  600 bytes, a rate of 0.00046
	// by 5:  360 bytes, a rate of 0.013
	// by 9:  200 bytes, a rate of 0.19
}
