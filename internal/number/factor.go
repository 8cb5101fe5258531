package number

import (
	"math/bits"
	"slices"
)

// Power is a prime and how often it divides a number.
type Power struct {
	Prime    uint64
	Exponent int // at least 1
}

// Factor returns the prime powers whose product is m, the primes ascending: none
// for 1, and none for 0, which has no factors. Any m takes a few milliseconds at
// most: primes below 256 are tried, and what is left is split by Pollard's rho.
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

// split appends the primes of m, which has none below 256, to dst, each as often
// as it divides m.
func split(dst []uint64, m uint64) []uint64 {
	switch {
	case m == 1:
		return dst
	case m < 257*257 || IsPrime(m):
		return append(dst, m)
	}
	// Each start and constant is a new walk. On a square some walks find nothing.
	for c := uint64(1); ; c++ {
		if d := rho(m, c); d != m {
			return split(split(dst, d), m/d)
		}
	}
}

// rho returns a divisor of m above 1, or m itself if this walk finds no other. It
// walks x -> x²+c mod m until two places agree modulo a prime of m. Differences
// are multiplied and one greatest common divisor is taken of many; if that is m,
// the last stretch is walked again step by step.
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
			if d = gcd(product, m); d == m {
				for d = 1; d == 1; {
					before = step(before)
					d = gcd(distance(at, before), m)
				}
			}
		}
	}
	return d
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// gcd returns the greatest common divisor; that of 0 and b is b.
func gcd(a, b uint64) uint64 {
	for a != 0 {
		a, b = b%a, a
	}
	return b
}
