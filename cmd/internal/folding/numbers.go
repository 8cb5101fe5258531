// Package folding finds by how much a filter can be folded to meet a rate or a
// size.
package folding

import "slices"

// Divisors returns the divisors of n, at least 1, in ascending order. It takes
// time in proportion to the square root of n.
func Divisors(n uint64) []uint64 {
	var low, high []uint64
	for d := uint64(1); d <= n/d; d++ {
		if n%d != 0 {
			continue
		}
		low = append(low, d)
		if d != n/d {
			high = append(high, n/d)
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
