// Package number provides the arithmetic of sizes that fold: a filter of m cells folds by the divisors
// of m, so a good size has many divisors.
//
// All functions may be called concurrently.
package number

import (
	"math/bits"
	"slices"
)

// Power is a prime and the exponent with which it divides a number.
type Power struct {
	Prime    uint64
	Exponent int // at least 1
}

// Factor returns the prime powers whose product is m, in ascending order of the primes; none for 1 and 0. It
// takes at most a few milliseconds: it tries the primes below 256 and splits the rest by Pollard's rho.
//
// Source: Pollard 1975; Brent 1980.
func Factor(m uint64) []Power {
	if m == 0 {
		return nil
	}
	var powers []Power
	for _, p := range trial {
		e := 0
		for ; m%p == 0; m /= p {
			e++
		}
		if e > 0 {
			powers = append(powers, Power{p, e})
		}
	}
	large := split(nil, m)
	slices.Sort(large)
	for _, p := range large {
		if last := len(powers) - 1; last >= 0 && powers[last].Prime == p {
			powers[last].Exponent++
		} else {
			powers = append(powers, Power{p, 1})
		}
	}
	return powers
}

// split appends the primes of m, which has none below 256, to dst, with their multiplicity.
func split(dst []uint64, m uint64) []uint64 {
	switch {
	case m == 1:
		return dst
	case m < 257*257 || IsPrime(m):
		return append(dst, m)
	}
	// Each constant gives another walk. For a square some walks find nothing.
	for c := uint64(1); ; c++ {
		if d := rho(m, c); d != m {
			return split(split(dst, d), m/d)
		}
	}
}

// rho returns a divisor of m above 1, or m itself if this walk finds no other. It walks x -> x²+c mod m until
// two places agree modulo a prime of m. It multiplies many differences and computes one greatest common
// divisor for them; if that is m, it repeats the last stretch step by step.
func rho(m, c uint64) uint64 {
	step := func(x uint64) uint64 {
		x = mulMod(x, x, m)
		sum, carry := bits.Add64(x, c, 0)
		if carry != 0 || sum >= m {
			sum -= m
		}
		return sum
	}
	const stretch = 128
	ahead, d := uint64(2), uint64(1)
	for length := 1; d == 1; length *= 2 {
		at := ahead
		for range length {
			ahead = step(ahead)
		}
		for walked := 0; walked < length && d == 1; walked += stretch {
			before, product := ahead, uint64(1)
			for range min(stretch, length-walked) {
				ahead = step(ahead)
				product = mulMod(product, distance(at, ahead), m)
			}
			if d = GCD(product, m); d == m {
				for d = 1; d == 1; {
					before = step(before)
					d = GCD(distance(at, before), m)
				}
			}
		}
	}
	return d
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// GCD returns the greatest common divisor of a and b; if a is 0, it is b.
func GCD(a, b uint64) uint64 {
	for a != 0 {
		a, b = b%a, a
	}
	return b
}

// Divisors returns the divisors of m in ascending order, from 1 to m; none for 0. No number below 2^64 has
// more than 184,320.
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

// CountDivisors returns d(m), the number of divisors of m: the product of the exponents of its primes, each
// plus one. It is 0 for 0.
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

// Primes returns the primes up to y in ascending order. It temporarily allocates y bytes, so y should be at
// most some millions.
func Primes(y uint64) []uint64 {
	composite := make([]bool, y+1)
	var primes []uint64
	for p := uint64(2); p <= y; p++ {
		if composite[p] {
			continue
		}
		primes = append(primes, p)
		for q := p * p; p <= y/p && q <= y; q += p {
			composite[q] = true
		}
	}
	return primes
}

// trial contains the primes that Factor tries one by one.
var trial = Primes(256)

// IsPrime reports whether m is a prime. It is exact: no composite number below 2^64 passes the test of Miller
// and Rabin for the twelve bases 2 to 37 (Sorenson and Webster 2015).
func IsPrime(m uint64) bool {
	for _, p := range trial[:12] {
		if m%p == 0 {
			return m == p
		}
	}
	if m < 2 {
		return false
	}
	twos := bits.TrailingZeros64(m - 1)
	for _, base := range trial[:12] {
		if !passes(m, base, twos) {
			return false
		}
	}
	return true
}

// passes reports whether an odd m passes the test for a base: with m-1 = 2^twos·odd, base^odd is 1 or one of
// its squarings is -1.
func passes(m, base uint64, twos int) bool {
	x := uint64(1)
	for odd := (m - 1) >> twos; odd > 0; odd >>= 1 {
		if odd&1 == 1 {
			x = mulMod(x, base, m)
		}
		base = mulMod(base, base, m)
	}
	if x == 1 || x == m-1 {
		return true
	}
	for range twos - 1 {
		if x = mulMod(x, x, m); x == m-1 {
			return true
		}
	}
	return false
}

// mulMod returns a·b mod m, for a and b below m.
func mulMod(a, b, m uint64) uint64 {
	high, low := bits.Mul64(a, b)
	_, rest := bits.Div64(high, low, m)
	return rest
}
