package number

import "math"

// SuperiorHighlyComposite returns the numbers m up to limit for which some e > 0
// makes d(m)/m^e largest of all numbers, in ascending order: 2, 6, 12, 60 and so on.
// Each is the one before times a prime.
//
// Source: Ramanujan 1915, section 32.
func SuperiorHighlyComposite(limit uint64) []uint64 {
	var found []uint64
	primes := trial[:16] // their product is above 2^64
	exponents := make([]int, len(primes))
	for m := uint64(1); ; {
		// The next prime is the one that pays for itself at the largest e: a power
		// from x to x+1 makes d larger by (x+2)/(x+1), and m^e by p^e.
		best, largest := 0, 0.0
		for i, p := range primes {
			e := math.Log1p(1/float64(exponents[i]+1)) / math.Log(float64(p))
			if e > largest {
				best, largest = i, e
			}
		}
		if m > limit/primes[best] {
			return found
		}
		m *= primes[best]
		exponents[best]++
		found = append(found, m)
	}
}
