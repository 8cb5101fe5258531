package folding_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/folding"
)

// How do I publish a filter that is as small as its keys allow?
func Example() {
	shape, err := folding.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := folding.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 10_000 {
		f.AddString(fmt.Sprint("key ", i))
		if i+1 == 100 || i+1 == 1000 || i+1 == 10_000 {
			face, err := f.Folded()
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%5d keys: %.0f bits a key to send, rate below 0.01: %v\n",
				i+1, float64(face.Shape().M)/float64(i+1), f.Stats().FPRate < 0.01)
		}
	}
	// Output:
	//   100 keys: 28 bits a key to send, rate below 0.01: true
	//  1000 keys: 10 bits a key to send, rate below 0.01: true
	// 10000 keys: 10 bits a key to send, rate below 0.01: true
}

// How do I remove keys, so that the folded filter shrinks?
func ExampleCounting() {
	shape, err := folding.Plan(umbel.Goal{Keys: 10_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	shape.Width = 4
	f, err := folding.NewCountingShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	size := func() uint64 {
		face, err := f.Folded()
		if err != nil {
			log.Fatal(err)
		}
		return face.Shape().M
	}
	for i := range 5000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	large := size()
	for i := 1000; i < 5000; i++ {
		f.RemoveString(fmt.Sprint("key ", i))
	}
	fmt.Println("a quarter of the size or less:", size() <= large/4)
	fmt.Println(f.HasString("key 999"), f.HasString("key 4999"))
	// Output:
	// a quarter of the size or less: true
	// true false
}

// How do I keep another interval, such as ρ = 0.02 and ε = 0.005?
func ExampleShape_Keep() {
	shape, err := folding.Shape{M: 15120 * 12, K: 2}.Keep(0.02, 0.005)
	if err != nil {
		log.Fatal(err)
	}
	low, high := shape.Interval()
	fmt.Printf("%.3f to %.3f, 1000 keys in %d of %d cells\n", low, high, shape.FoldedSize(1000), shape.M)
	// Output: 0.015 to 0.025, 1000 keys in 12096 of 181440 cells
}

// How do I notice that there are more keys than planned?
func ExampleFilter_TryAdd() {
	shape, err := folding.Shape{M: 10080, K: 4}.Keep(0.01, 0.002)
	if err != nil {
		log.Fatal(err)
	}
	f, err := folding.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2000 {
		if _, err := f.TryAdd(f.Hasher().HashString(fmt.Sprint("key ", i))); errors.Is(err, umbel.ErrLimit) {
			fmt.Println("full with about", (i+50)/100*100, "keys")
			break
		}
	}
	// Output: full with about 1000 keys
}
