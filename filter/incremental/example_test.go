package incremental_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/incremental"
)

// How do I make a filter if I only know the maximum of keys?
func Example() {
	shape, err := incremental.Plan(umbel.Goal{Keys: 10_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := incremental.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 10_000 {
		f.AddString(fmt.Sprint("key", i))
		if i == 999 || i == 9999 {
			b, err := f.MarshalBinary()
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%5d keys: %d of %d planes, %.0f kB\n", i+1, len(f.State().Parts), len(shape.Layers), float64(len(b))/1000)
		}
	}
	// Output:
	//  1000 keys: 1 of 5 planes, 4 kB
	// 10000 keys: 5 of 5 planes, 17 kB
}

// What happens above the maximum?
func ExampleFilter_TryAdd() {
	shape, err := incremental.Plan(umbel.Goal{Keys: 100, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := incremental.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		if _, err := f.TryAdd(f.Hasher().HashString(fmt.Sprint(i))); errors.Is(err, umbel.ErrLimit) {
			fmt.Println("full, with more than 100 keys:", i >= 100)
			break
		}
	}
	fmt.Println("the rate is kept:", f.Stats().FPRate <= 0.01)
	// Output:
	// full, with more than 100 keys: true
	// the rate is kept: true
}
