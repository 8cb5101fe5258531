package number

import (
	"cmp"
	"math"
	"slices"
)

// rich is a number and the number of its divisors.
type rich struct{ m, divisors uint64 }

// HighlyComposite returns the numbers up to limit that have more divisors than any smaller number, in
// ascending order. There are 38 up to 831,600.
//
// Source: Ramanujan 1915; Sailhan and Stehr 2012, equation (9).
func HighlyComposite(limit uint64) []uint64 {
	return numbers(recordsTo(limit, moreThan))
}

// LargelyComposite returns the numbers up to limit that have at least as many divisors as any smaller number,
// in ascending order. There are 99 below 831,600.
//
// Source: Ramanujan 1915, as edited by Nicolas and Robin 1997; Sailhan and Stehr
// 2012, equation (10).
func LargelyComposite(limit uint64) []uint64 {
	return numbers(recordsTo(limit, asManyAs))
}

func moreThan(divisors, most uint64) bool { return divisors > most }
func asManyAs(divisors, most uint64) bool { return divisors >= most }

// recordsTo returns the numbers up to limit that break, or equal, the record of the smaller ones.
//
// It adds one prime after another. The part of a record that consists of the first primes is itself a record
// among such numbers: with a better part instead, the number would be smaller and have more divisors. If a
// prime divides no record, no larger prime does, since the smaller one could replace it.
func recordsTo(limit uint64, isRecord func(divisors, most uint64) bool) []rich {
	if limit == 0 {
		return nil
	}
	records := []rich{{1, 1}}
	for p := uint64(2); ; p++ {
		if !IsPrime(p) {
			continue
		}
		next := withPrime(records, p, limit, isRecord)
		if !slices.ContainsFunc(next, func(r rich) bool { return r.m%p == 0 }) {
			return next
		}
		records = next
	}
}

// withPrime returns the records up to limit among the given ones, which p doesn't divide, and their products
// with powers of p.
func withPrime(records []rich, p, limit uint64, isRecord func(divisors, most uint64) bool) []rich {
	var all []rich
	for _, r := range records {
		for e := uint64(1); ; e++ {
			all = append(all, rich{r.m, r.divisors * e})
			if r.m > limit/p {
				break
			}
			r.m *= p
		}
	}
	slices.SortFunc(all, func(a, b rich) int { return cmp.Compare(a.m, b.m) })
	var kept []rich
	most := uint64(0)
	for _, r := range all {
		if isRecord(r.divisors, most) {
			kept, most = append(kept, r), r.divisors
		}
	}
	return kept
}

func numbers(records []rich) []uint64 {
	ms := make([]uint64, len(records))
	for i, r := range records {
		ms[i] = r.m
	}
	return ms
}

// SuperiorHighlyComposite returns the numbers m up to limit for which d(m)/m^e is the largest of all numbers
// for some e > 0, in ascending order: 2, 6, 12, 60 and so on. Each is the previous one times a prime.
//
// Source: Ramanujan 1915, section 32.
func SuperiorHighlyComposite(limit uint64) []uint64 {
	var found []uint64
	primes := trial[:16] // their product is above 2^64
	exponents := make([]int, len(primes))
	for m := uint64(1); ; {
		// The next prime is the one that is worth its size at the largest e: raising its exponent
		// from x to x+1 multiplies d by (x+2)/(x+1) and m^e by p^e.
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
