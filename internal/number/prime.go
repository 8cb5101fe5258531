package number

import "math/bits"

// Primes returns the primes up to y in ascending order. It takes y bytes for a
// moment: it is meant for y up to some millions.
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

// trial are the primes that Factor tries one by one.
var trial = Primes(256)

// IsPrime reports whether m is a prime. It is exact: no composite number below
// 2^64 passes the test of Miller and Rabin to the twelve bases 2 to 37 (Sorenson
// and Webster 2015).
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

// passes reports whether an odd m looks like a prime to the base: with
// m-1 = 2^twos·odd, base^odd is 1 or one of its squarings is -1.
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
