package number

import "slices"

// Divisors returns the divisors of m in ascending order, from 1 to m; none for 0.
// No number below 2^64 has more than 184,320.
func Divisors(m uint64) []uint64 {
	if m == 0 {
		return nil
	}
	divisors := make([]uint64, 1, CountDivisors(m))
	divisors[0] = 1
	for _, p := range Factor(m) {
		without := len(divisors)
		for range p.Exponent {
			for _, d := range divisors[len(divisors)-without:] {
				divisors = append(divisors, d*p.Prime)
			}
		}
	}
	slices.Sort(divisors)
	return divisors
}

// CountDivisors returns d(m), how many divisors m has: the product of the exponents
// of its primes, each plus one. It is 0 for 0.
//
// Source: Sailhan and Stehr 2012, equation (8).
func CountDivisors(m uint64) uint64 {
	if m == 0 {
		return 0
	}
	count := uint64(1)
	for _, p := range Factor(m) {
		count *= uint64(p.Exponent) + 1
	}
	return count
}
