package folds

import (
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/internal/number"
)

// smoothNumbers returns the y-smooth numbers in [low, high] in ascending order, including
// 1: those without a prime factor above y. It forms products of primes, so its time is
// proportional to the number of smooth numbers up to high, not to the length of the
// interval. Use it for y up to some thousands; for a short interval and a large y,
// sieveSmooth is faster.
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

// sieveSmooth returns the same numbers as smoothNumbers. It sieves the interval: it divides
// each number by all primes up to y, and the number is smooth if 1 remains. It needs 8
// bytes for each number of the interval.
//
// Source: Sailhan and Stehr 2012, algorithm IV-B, corrected; see the errata in paper.go.
// The algorithm adds logarithms of primes and compares the sum with log(x), where x is
// the low end. Division needs no threshold.
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

// psi returns the exact number of y-smooth numbers from 1 to x. Its time is proportional
// to the result. Use it for y up to some thousands.
//
// Sailhan and Stehr 2012, equation (11), approximate it by x·rho(u), where u = ln x/ln y
// and rho is that of dickman. That is a limit for a fixed u and does not hold for the
// small y of sizes that fold: there are 1273 7-smooth numbers up to 10^6, and x·rho(u)
// is 0.63.
func psi(x, y uint64) uint64 {
	switch {
	case x == 0:
		return 0
	case x == 1 || y < 2:
		return 1
	}
	primes := number.Primes(min(y, x))
	var count func(x uint64, i int) uint64
	// count returns how many numbers up to x have only prime factors up to index i.
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

// terms is the length of the power series, whose coefficients decrease like 2^-i.
const terms = 56

// dickman returns Dickman's rho(u): for large x, the share of numbers near x without a
// prime factor above x^(1/u). It is 1 for u from 0 to 1, and then the mean of rho over
// [u-1, u], divided by u. It is 0 for u below 0. Its relative error is at most 10^-12 up
// to u = 20.
//
// On each unit interval rho is a power series whose coefficients follow from those of the
// previous interval: Bach and Peralta 1996. Equation (12) of Sailhan and Stehr 2012 is the
// defining integral.
func dickman(u float64) float64 {
	switch {
	case u < 0:
		return 0
	case u <= 1:
		return 1
	case u > 150: // rho(150) is below any float64
		return 0
	}
	// From k-1 to k, rho(k-x) is the sum of c[i]·x^i.
	var c [terms]float64
	c[0] = 1 - math.Ln2
	for i := 1; i < terms; i++ {
		c[i] = math.Ldexp(1/float64(i), -i)
	}
	k := 2.0
	for ; k < u; k++ {
		c = unitAfter(c, k+1)
	}
	x, sum := k-u, 0.0
	for i := terms - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}

// unitAfter returns the series on [k-1, k], given the series on the previous interval.
func unitAfter(before [terms]float64, k float64) [terms]float64 {
	var c [terms]float64
	sum := 0.0 // of before[j]/k^(i-j), j < i
	for i := 1; i < terms; i++ {
		sum = (sum + before[i-1]) / k
		c[i] = sum / float64(i)
		c[0] += c[i] / float64(i+1)
	}
	c[0] /= k - 1
	return c
}
