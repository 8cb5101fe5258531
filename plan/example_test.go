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
	// plan: false-positive rate 1, want more than 0 and less than 1; give a fraction, 0.01 for one percent
}

// How many keys fit into one mebibyte with four bits set per key?
func ExampleCapacity() {
	n := plan.Capacity(8<<20, 4, 0.01)
	fmt.Printf("%.2f million\n", float64(n)/1e6)
	// Output: 0.80 million
}

// How often is a filter wrong, by the formula, and without its assumption?
func ExampleFPRateExact() {
	simple := plan.FPRateAtFill(plan.Fill(64, 4, 8), 4)
	fmt.Printf("%.5f %.5f %.5f\n", simple, plan.FPRate(64, 4, 8), plan.FPRateExact(64, 4, 8))
	// Output: 0.02456 0.02535 0.02535
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

// How many keys do two filters have in common, and how many are in at least one?
func ExampleIntersectionKeys() {
	const m, k = 100_000, 4
	fmt.Println(plan.IntersectionKeys(m, k, 33_000, 33_000, 45_100))
	fmt.Println(plan.KeysInterval(m, k, 45_100))
	// Output:
	// 5032 [4988, 5077]
	// 14991 [14918, 15065]
}

// What do blocks cost in memory?
func ExampleBlockedSize() {
	const n, p = 1_000_000, 0.001
	plain, k, _ := plan.Size(n, p)
	fmt.Printf("plain       %.1f bits per key, k=%d\n", float64(plain)/n, k)
	words, perWord, _ := plan.BlockedDesignForRate(p)
	blocked, _ := plan.BlockedSize(n, words, perWord, p)
	fmt.Printf("blocked     %.1f bits per key, k=%d\n", float64(blocked)/n, words*perWord)
	split, _ := plan.SplitBlockSize(n, p)
	fmt.Printf("split block %.1f bits per key, k=8\n", float64(split)/n)
	// Output:
	// plain       14.4 bits per key, k=10
	// blocked     15.7 bits per key, k=8
	// split block 16.9 bits per key, k=8
}

// From how large a filter should one fold, and to what size with fewer keys in it?
func ExampleBaseSize() {
	const n, k, p, eps = 1000, 4, 0.01, 0.002
	m, err := plan.BaseSize(n, k, p, eps, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	ladder := plan.FoldSizes(m, 1)
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
func ExampleSizeInterval() {
	fmt.Println(plan.SizeInterval(1000, 4, 0.01, 0.002))
	// Output: 9953 11257 <nil>
}

// What is the best filter of 10,000 keys that is sent with 8 bits a key, and what if the
// receiver has memory for 16 bits a key only?
func ExampleCompressedSearch_MinFPRate() {
	const n = 10_000
	for _, limit := range []uint64{0, 16 * n, 8 * n} {
		f, err := plan.CompressedSearch{Keys: n, Cells: limit}.MinFPRate(8 * n)
		fmt.Printf("%6d cells, k=%d, rate %.4f %v\n", f.M, f.K, f.FPRate, err)
	}
	// Output:
	// 969144 cells, k=1, rate 0.0103 <nil>
	// 143364 cells, k=2, rate 0.0170 <nil>
	//  80000 cells, k=6, rate 0.0216 <nil>
}

// How should 10,000 keys be sent at one percent, each hour to 20 peers that have 32 KiB
// for it, if 5 % of the keys change from one hour to the next?
func ExampleMessage_Plan() {
	options, err := plan.Message{Keys: 10_000, FPRate: 0.01, Memory: 32 << 10, Churn: 0.05, Peers: 20}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range options {
		fmt.Printf("%-6s k=%d: first %5.0f bytes, then %4.0f, %6.0f an hour\n", o.Kind, o.K, o.Snapshot.Mean/8, o.Update().Mean/8, o.PerHour)
	}
	for _, o := range options[1:] {
		fmt.Printf("%s, k=%d, is not the first: %s\n", o.Kind, o.K, o.Why)
	}
	// Output:
	// sparse k=1: first 10156 bytes, then 1225,  24499 an hour
	// bloom  k=2: first 11230 bytes, then 1766,  35323 an hour
	// bloom  k=7: first 12086 bytes, then 2701,  54020 an hour
	// ribbon k=0: first  8625 bytes, then 8625, 172500 an hour
	// bloom, k=2, is not the first: sends 1.44 times as much
	// bloom, k=7, is not the first: sends 2.2 times as much
	// ribbon, k=0, is not the first: receivers can only query it: no deltas, no additions, no merging, no folding
}

// From what churn on is it better to send a ribbon filter again than a delta of the
// compressed Bloom filter?
func ExampleRibbonBreakEven() {
	f, _ := plan.CompressedSearch{Keys: 10_000, Cells: 32 * 10_000}.MinBits(0.01)
	churn, err := plan.RibbonBreakEven(10_000, 0.01, f.M, f.K)
	fmt.Printf("%.2f %v\n", churn, err)
	// Output:
	// 0.49 <nil>
}

// How large is an update if 5 % of the keys change, and how much does it deviate?
func ExampleDeltaBits() {
	const m, k, n, churn = 320_000, 2, 10_000, 0.05
	fmt.Printf("filter        %.0f bytes\n", plan.WireBits(m, k, n)/8)
	fmt.Printf("exclusive-or  %.0f bytes\n", plan.XORDeltaBits(m, k, n, churn)/8)
	fmt.Printf("with the old  %.0f ± %.0f bytes\n", plan.DeltaBits(m, k, n, churn)/8, plan.DeltaDeviation(m, k, n, churn)/8)
	// Output:
	// filter        13191 bytes
	// exclusive-or  2076 bytes
	// with the old  1822 ± 9 bytes
}
