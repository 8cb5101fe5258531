package plan_test

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/plan"
)

// From the letters of the papers to a filter: a size for a goal, its rate with other numbers of keys, an
// estimate of its keys, a fold of half the size, and the bits that are sent.
func Example() {
	f, err := plan.Size(1000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("m=%d, k=%d\n", f.M, f.K)
	for _, n := range []uint64{500, 1000, 2000} {
		fmt.Printf("n=%4d: fill %.3f, p %.5f\n", n, f.Fill(n), f.FPRate(n))
	}
	fmt.Printf("at most 0.001 with %d keys\n", f.Capacity(0.001))
	fmt.Printf("half of the cells are set: %v keys\n", f.Keys(f.M/2))
	half := plan.Filter{M: f.M / 2, K: f.K}
	fmt.Printf("folded to %d cells: p %.4f\n", half.M, half.FPRate(1000))
	sparse := plan.Filter{M: 10 * f.M, K: 1}
	fmt.Printf("%d cells with k=1, compressed: %.0f of %d bits, p %.4f\n",
		sparse.M, sparse.WireBits(1000).Mean, f.M, sparse.FPRate(1000))
	// Output:
	// m=9594, k=7
	// n= 500: fill 0.306, p 0.00025
	// n=1000: fill 0.518, p 0.01000
	// n=2000: fill 0.768, p 0.15703
	// at most 0.001 with 639 keys
	// half of the cells are set: 950 [935, 965] keys
	// folded to 4797 cells: p 0.1571
	// 95940 cells with k=1, compressed: 7985 of 9594 bits, p 0.0104
}

// How large must a filter be for a million keys at one percent?
func ExampleSize() {
	f, err := plan.Size(1_000_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f bits per key, %d of them set\n", float64(f.M)/1e6, f.K)
	// Output: 9.59 bits per key, 7 of them set
}

// A rate is a fraction, not percent.
func ExampleSize_percent() {
	_, err := plan.Size(1_000_000, 1)
	fmt.Println(errors.Is(err, plan.ErrRange))
	fmt.Println(err)
	// Output:
	// true
	// false-positive rate 1, want more than 0 and less than 1; give a fraction, 0.01 for one percent
}

// How many keys fit into one mebibyte with four bits set per key?
func ExampleFilter_Capacity() {
	n := plan.Filter{M: 8 << 20, K: 4}.Capacity(0.01)
	fmt.Printf("%.2f million\n", float64(n)/1e6)
	// Output: 0.80 million
}

// How often is a filter wrong, by the formula, and without its assumption?
func ExampleFilter_FPRateExact() {
	f := plan.Filter{M: 64, K: 4}
	simple := plan.FPRateAtFill(f.Fill(8), f.K)
	fmt.Printf("%.5f %.5f %.5f\n", simple, f.FPRate(8), f.FPRateExact(8))
	// Output: 0.02456 0.02535 0.02535
}

// How often is this filter wrong, now that half of its cells are set?
func ExampleFPRateAtFill() {
	fmt.Println(plan.FPRateAtFill(0.5, 7))
	// Output: 0.0078125
}

// How many keys are in a filter?
func ExampleFilter_Keys() {
	e := plan.Filter{M: 8000, K: 5}.Keys(3718)
	fmt.Printf("%.0f, and between %.0f and %.0f\n", e.Value, e.Low, e.High)
	// Output: 1000, and between 983 and 1018
}

// How many keys do two filters have in common, and how many are in at least one?
func ExampleFilter_CommonKeys() {
	f := plan.Filter{M: 100_000, K: 4}
	fmt.Println(f.CommonKeys(33_000, 33_000, 45_100))
	fmt.Println(f.Keys(45_100))
	// Output:
	// 5032 [4988, 5077]
	// 14991 [14918, 15065]
}

// From how large a filter should one fold, and to what size with fewer keys in it?
func ExampleInterval() {
	i := plan.Interval{K: 4, FPRate: 0.01, Eps: 0.002}
	m, err := i.Base(1000, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	ladder := plan.FoldSizes(m, 1)
	fmt.Printf("%d cells, which fold to %d sizes\n", m, len(ladder))
	for _, keys := range []uint64{1000, 750, 500} {
		size, _ := i.Target(ladder, keys)
		fmt.Printf("%4d keys: fold by %d to %d cells, rate %.4f\n", keys, m/size, size, plan.Filter{M: size, K: i.K}.FPRate(keys))
	}
	// Output:
	// 131040 cells, which fold to 144 sizes
	// 1000 keys: fold by 13 to 10080 cells, rate 0.0115
	//  750 keys: fold by 16 to 8190 cells, rate 0.0089
	//  500 keys: fold by 26 to 5040 cells, rate 0.0115
}

// Which sizes keep the rate near one percent?
func ExampleInterval_Sizes() {
	fmt.Println(plan.Interval{K: 4, FPRate: 0.01, Eps: 0.002}.Sizes(1000))
	// Output: 9953 11257 <nil>
}

// What is the best filter of 10,000 keys that is sent with 8 bits a key, and what if the
// receiver has memory for 16 bits a key only?
func ExampleCompressedSearch_MinFPRate() {
	const n = 10_000
	for _, limit := range []uint64{0, 16 * n, 8 * n} {
		f, err := plan.CompressedSearch{Keys: n, Cells: limit}.MinFPRate(8 * n)
		fmt.Printf("%6d cells, k=%d, rate %.4f %v\n", f.M, f.K, f.FPRate(n), err)
	}
	// Output:
	// 969144 cells, k=1, rate 0.0103 <nil>
	// 143364 cells, k=2, rate 0.0170 <nil>
	//  80000 cells, k=6, rate 0.0216 <nil>
}

// How large is an update if 5 % of the keys change, and how much does it deviate?
func ExampleFilter_DeltaBits() {
	const n, churn = 10_000, 0.05
	f := plan.Filter{M: 320_000, K: 2}
	update := f.DeltaBits(n, churn)
	fmt.Printf("filter        %.0f bytes\n", f.WireBits(n).Mean/8)
	fmt.Printf("exclusive-or  %.0f bytes\n", f.XORDeltaBits(n, churn).Mean/8)
	fmt.Printf("with the old  %.0f ± %.0f bytes\n", update.Mean/8, update.Deviation/8)
	// Output:
	// filter        13191 bytes
	// exclusive-or  2076 bytes
	// with the old  1822 ± 9 bytes
}
