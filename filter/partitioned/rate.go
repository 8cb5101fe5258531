package partitioned

import (
	"fmt"

	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// fpRate returns the false-positive rate of a partitioned filter, as a fraction in
// [0, 1]. The filter has m cells in k slices of m/k cells, sets one cell of each slice per key
// and contains n distinct keys. It panics if k is zero or negative, or m is less than k. If k
// does not divide m, it still computes with slices of m/k cells.
//
// The formula is (1-(1-k/m)^n)^k: Almeida, Baquero, Preguiça and Hutchison 2007. Slices are
// independent, so unlike that of [plan.Filter.FPRate] it is the exact mean for every m; their condition "if
// m is reasonably large" is needed for a single array only. With m=64, n=8, k=4 it is 0.026450;
// a single array has 0.025354, for which plan.Filter.FPRate gives 0.024556.
func fpRate(m uint64, k int, n uint64) float64 {
	planning.MustShape(m, k)
	if m < uint64(k) {
		panic(fmt.Sprintf("partitioned: m=%d cells in k=%d slices, want at least one cell in each", m, k))
	}
	return plan.FPRateAtFill(occupancy.Fill(float64(m)/float64(k), float64(n)), k)
}

// size returns the smallest number m of cells, a multiple of k, for which a filter of k slices has a rate of
// at most p with n distinct keys, over all k, and the smallest such k.
//
// It returns an error wrapping [plan.ErrRange] if n is zero, p is not inside (0, 1), or m would be
// above 2^63.
func size(n uint64, p float64) (m uint64, k int, err error) {
	// Since slices have whole cells, a k above the usual best can be better: for 8 keys at
	// 1e-6 the best design is 22 slices of 11 cells.
	return planning.LeastSize(n, p, 1, 2*planning.HighestK(p), cellInEach, rateWith(n))
}

// sizeForK is size for a given number k of slices. It also returns an error wrapping [plan.ErrRange] if k is
// less than 1.
func sizeForK(n uint64, k int, p float64) (m uint64, err error) {
	if err := planning.CheckK(k); err != nil {
		return 0, err
	}
	m, _, err = planning.LeastSize(n, p, k, k, cellInEach, rateWith(n))
	return m, err
}

func cellInEach(k int) uint64 { return uint64(k) }

func rateWith(n uint64) func(m uint64, k int) float64 {
	return func(m uint64, k int) float64 { return fpRate(m, k, n) }
}
