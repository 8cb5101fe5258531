package number

import (
	"cmp"
	"slices"
)

// rich is a number and how many divisors it has.
type rich struct{ m, divisors uint64 }

// HighlyComposite returns the numbers up to limit with more divisors than any
// smaller one, in ascending order. There are 38 up to 831,600.
//
// Source: Ramanujan 1915; Sailhan and Stehr 2012, equation (9).
func HighlyComposite(limit uint64) []uint64 {
	return numbers(recordsTo(limit, moreThan))
}

// LargelyComposite returns the numbers up to limit with at least as many divisors
// as any smaller one, in ascending order. There are 99 below 831,600.
//
// Source: Ramanujan 1915, as edited by Nicolas and Robin 1997; Sailhan and Stehr
// 2012, equation (10).
func LargelyComposite(limit uint64) []uint64 {
	return numbers(recordsTo(limit, asManyAs))
}

func moreThan(divisors, most uint64) bool { return divisors > most }
func asManyAs(divisors, most uint64) bool { return divisors >= most }

// recordsTo returns the numbers up to limit that break, or equal, the record set
// by the smaller ones, whatever their primes.
//
// It takes one prime after the other into the records. What a record has of the
// first primes is itself a record among the numbers made of them: with a better
// part in its place the number would be smaller and have more divisors. And if a
// prime is in no record then no larger one is, since the smaller could take its
// place.
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

// withPrime returns the records up to limit among those that are given, which p
// doesn't divide, and their products with powers of p.
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
