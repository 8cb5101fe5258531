package window_test

import (
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

// How do I know what I have seen in the last hour?
func Example() {
	const hour = 3600 // ticks are seconds here
	f, err := window.NewTicks(umbel.Goal{Keys: 100_000, FPRate: 0.01}, hour)
	if err != nil {
		log.Fatal(err)
	}
	start := uint64(1_700_000_000) // from the program's clock
	for _, at := range []uint64{0, 1800, 3600, 5400} {
		if err := f.Advance(start + at); err != nil {
			log.Fatal(err)
		}
		if at == 0 {
			f.AddString("alice")
		}
		fmt.Printf("after %4d s: %v\n", at, f.HasString("alice"))
	}
	// Output:
	// after    0 s: true
	// after 1800 s: true
	// after 3600 s: true
	// after 5400 s: false
}

// How do I remember the last thousand keys, whenever they came?
func ExamplePlanKeys() {
	shape, err := window.PlanKeys(umbel.Goal{Keys: 1000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := window.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100_000 {
		f.AddString(fmt.Sprint(i))
	}
	there := 0
	for i := 99_000; i < 100_000; i++ {
		if f.HasString(fmt.Sprint(i)) {
			there++
		}
	}
	fmt.Println("of the last thousand:", there)
	fmt.Println("the first:", f.HasString("0"))
	// Output:
	// of the last thousand: 1000
	// the first: false
}

// What does it cost?
func ExamplePlan() {
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		goal := umbel.Goal{Keys: 100_000, FPRate: rate}
		byTime, err := window.Plan(goal, 3600)
		if err != nil {
			log.Fatal(err)
		}
		byKeys, err := window.PlanKeys(goal)
		if err != nil {
			log.Fatal(err)
		}
		perKey := func(s window.Shape) float64 { return float64(s.Forecast(goal.Keys).Bytes) * 8 / float64(goal.Keys) }
		fmt.Printf("rate %5g: %.1f bits per key by time, %.1f by keys\n", rate, perKey(byTime), perKey(byKeys))
	}
	// Output:
	// rate   0.1: 13.3 bits per key by time, 13.1 by keys
	// rate  0.01: 23.0 bits per key by time, 20.2 by keys
	// rate 0.001: 32.7 bits per key by time, 26.8 by keys
}
