package folds

import (
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/internal/number"
)

// smoothNumbers returns the y-smooth numbers in [low, high], those without a prime factor
// above y, in ascending order; 1 is one of them. It makes products of primes and
// leaves out those beyond high: the time goes with the number of smooth numbers
// below high, not with the length of the interval. y is meant to be small, up to
// some thousands. sieveSmooth is the better one where the interval is short and
// y large.
func smoothNumbers(low, high, y uint64) []uint64 {
	low = max(low, 1)
	if low > high {
		return nil
	}
	var found []uint64
	primes := number.Primes(min(y, high))
	var from func(m uint64, i int)
	from = func(m uint64, i int) {
		if m >= low {
			found = append(found, m)
		}
		for ; i < len(primes) && m <= high/primes[i]; i++ {
			from(m*primes[i], i)
		}
	}
	from(1, 0)
	slices.Sort(found)
	return found
}

// sieveSmooth returns what smoothNumbers does, by a sieve over the interval: each number
// is divided by the powers of primes up to y that divide it, and is smooth if 1 is
// left. It takes 8 bytes for each number of the interval.
//
// Source: Sailhan and Stehr 2012, algorithm IV-B, mended. The algorithm adds up
// logarithms of primes and compares with log(x), x the low end. As printed it sets
// instead of adding (line 12), marks anew from each i (lines 6 to 14), tests
// outside of any loop, another array, and intersects with a set that it never made
// (lines 19 to 23): of the 8 numbers in [100, 150] that are 5-smooth it finds none,
// and with the sum alone put right it finds 33. Its Require z > x is wrong as well:
// in [10, 70] the 3-smooth part of 60 is 12, which is above x. Dividing needs no
// threshold.
func sieveSmooth(low, high, y uint64) []uint64 {
	low = max(low, 1)
	if low > high {
		return nil
	}
	rest := make([]uint64, high-low+1)
	for i := range rest {
		rest[i] = low + uint64(i)
	}
	last := uint64(len(rest) - 1)
	for _, p := range number.Primes(min(y, high)) {
		for power := p; ; power *= p {
			// The first multiple of the power is at -low mod power.
			for i := (power - low%power) % power; i <= last; i += power {
				rest[i] /= p
				if last-i < power {
					break
				}
			}
			if power > high/p {
				break
			}
		}
	}
	var found []uint64
	for i, r := range rest {
		if r == 1 {
			found = append(found, low+uint64(i))
		}
	}
	return found
}

// psi returns how many numbers from 1 to x are y-smooth, exactly. The time goes with
// the result; y is meant to be small, as for smoothNumbers.
//
// Sailhan and Stehr 2012, equation (11), take x·rho(u) for it, u = ln x/ln y and
// rho as in dickman. That is a limit for a fixed u. For the small y of sizes that
// fold it says nothing: there are 1273 7-smooth numbers up to 10^6, and x·rho(u) is
// 0.63.
func psi(x, y uint64) uint64 {
	switch {
	case x == 0:
		return 0
	case x == 1 || y < 2:
		return 1
	}
	primes := number.Primes(min(y, x))
	var count func(x uint64, i int) uint64
	// count counts the numbers up to x made of the primes up to index i.
	count = func(x uint64, i int) uint64 {
		switch {
		case primes[i] >= x:
			return x
		case i == 0:
			return uint64(bits.Len64(x))
		}
		total := uint64(0)
		for ; x > 0; x /= primes[i] {
			total += count(x, i-1)
		}
		return total
	}
	return count(x, len(primes)-1)
}
