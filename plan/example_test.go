package plan_test

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/plan"
)

// How large must a filter be for a million keys at one percent?
func ExampleSize() {
	m, k, err := plan.Size(1_000_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f bits per key, %d of them set\n", float64(m)/1e6, k)
	// Output: 9.59 bits per key, 7 of them set
}

// A rate is a fraction, not percent.
func ExampleSize_percent() {
	_, _, err := plan.Size(1_000_000, 1)
	fmt.Println(errors.Is(err, plan.ErrRange))
	fmt.Println(err)
	// Output:
	// true
	// plan: false-positive rate 1, want more than 0 and less than 1; give a fraction, 0.01 for one percent: out of range
}

// How many keys fit into one mebibyte with four bits set per key?
func ExampleCapacity() {
	n := plan.Capacity(8<<20, 4, 0.01)
	fmt.Printf("%.2f million\n", float64(n)/1e6)
	// Output: 0.80 million
}

// How often is a filter wrong, by the formula, and without its assumption?
func ExampleFPRateExact() {
	fmt.Printf("%.5f %.5f\n", plan.FPRate(64, 4, 8), plan.FPRateExact(64, 4, 8))
	// Output: 0.02456 0.02535
}

// How often is this filter wrong, now that half of its cells are set?
func ExampleFPRateAtFill() {
	fmt.Println(plan.FPRateAtFill(0.5, 7))
	// Output: 0.0078125
}

// How many keys are in a filter?
func ExampleKeysInterval() {
	e := plan.KeysInterval(8000, 5, 3718)
	fmt.Printf("%.0f, and between %.0f and %.0f\n", e.Value, e.Low, e.High)
	// Output: 1000, and between 983 and 1018
}

// How many keys have two filters in common?
func ExampleIntersection() {
	const m, k = 100_000, 4
	fmt.Println(plan.Intersection(m, k, 33_000, 33_000, 45_100))
	fmt.Println(plan.Union(m, k, 45_100))
	// Output:
	// 5032 [4988, 5077]
	// 14991 [14918, 15065]
}

// What do blocks cost in space?
func ExampleBlockedSize() {
	const n, p = 1_000_000, 0.001
	plain, k, _ := plan.Size(n, p)
	fmt.Printf("plain       %.1f bits per key, k=%d\n", float64(plain)/n, k)
	blocked, k, _ := plan.BlockedSize(n, 512, p)
	fmt.Printf("blocked     %.1f bits per key, k=%d\n", float64(blocked)/n, k)
	split, _ := plan.SplitBlockSize(n, p)
	fmt.Printf("split block %.1f bits per key, k=8\n", float64(split)/n)
	// Output:
	// plain       14.4 bits per key, k=10
	// blocked     15.5 bits per key, k=9
	// split block 16.9 bits per key, k=8
}

// From how large a filter should one fold, and to what size with fewer keys in it?
func ExampleBase() {
	const n, k, p, eps = 1000, 4, 0.01, 0.002
	m, err := plan.Base(n, k, p, eps, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	ladder := plan.Ladder(m, 1)
	fmt.Printf("%d cells, which fold to %d sizes\n", m, len(ladder))
	for _, keys := range []uint64{1000, 750, 500} {
		size, _ := plan.FoldTarget(ladder, keys, k, p, eps)
		fmt.Printf("%4d keys: fold by %d to %d cells, rate %.4f\n", keys, m/size, size, plan.FPRate(size, k, keys))
	}
	// Output:
	// 131040 cells, which fold to 144 sizes
	// 1000 keys: fold by 13 to 10080 cells, rate 0.0115
	//  750 keys: fold by 16 to 8190 cells, rate 0.0089
	//  500 keys: fold by 26 to 5040 cells, rate 0.0115
}

// Which sizes keep the rate near one percent?
func ExampleInterval() {
	fmt.Println(plan.Interval(1000, 4, 0.01, 0.002))
	// Output: 9953 11257 <nil>
}
