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

// scanned is the length of an interval up to which MostDivisors tries every number.
const scanned = 4096

// MostDivisors returns the number in [low, high] with the most divisors, and the smallest of equal ones. If the
// interval contains more than 4096 numbers it omits those whose primes below 64 have a product of less than a
// quarter of the interval's length, since these have few divisors. ok is false if the interval is empty or
// contains only 0.
func MostDivisors(low, high uint64) (m uint64, ok bool) {
	low = max(low, 1)
	if low > high {
		return 0, false
	}
	if high-low < scanned {
		return scan(low, high).m, true
	}
	s := search{low: low, high: high, best: multiple(low, high)}
	s.bounds = bounds(trial[:31], high) // up to 127, since a bound allows for all primes
	s.primes = trial[:18]
	s.from(rich{1, 1}, 0)
	return s.best.m, true
}

// scan returns the best number of a short interval.
func scan(low, high uint64) rich {
	var best rich
	for m := low; ; m++ {
		best.improve(m)
		if m == high {
			return best
		}
	}
}

// improve makes m the best if it has more divisors, or as many and is smaller.
func (best *rich) improve(m uint64) {
	most := best.divisors
	if m < best.m {
		most--
	}
	if divisorsAbove(m, most) {
		*best = rich{m, CountDivisors(m)}
	}
}

// divisorsAbove reports whether m has more than most divisors. It factors m only if the part without primes
// below 256 can have enough of them.
func divisorsAbove(m, most uint64) bool {
	count, rest := uint64(1), m
	for _, p := range trial {
		e := uint64(1)
		for ; rest%p == 0; rest /= p {
			e++
		}
		count *= e
	}
	possible := count
	for left := rest; left >= 257; left /= 257 {
		possible *= 2
	}
	return possible > most && CountDivisors(m) > most
}

// multiple returns a number of the interval that is divisible by the largest highly composite number of which
// the interval must contain a multiple.
func multiple(low, high uint64) rich {
	unit := uint64(1)
	for _, u := range HighlyComposite(high - low) {
		unit = u
	}
	m := high / unit * unit
	return rich{m, CountDivisors(m)}
}

// search looks for the number with the most divisors among the multiples of products of primes. It omits
// products that can't be as good as the best so far.
type search struct {
	low, high uint64
	primes    []uint64
	bounds    [][]rich // for each prime, the records among products of it and later ones
	best      rich
}

// bounds returns, for each prime, the records up to limit among the products of it and the later ones.
func bounds(primes []uint64, limit uint64) [][]rich {
	bounds := make([][]rich, len(primes))
	records := []rich{{1, 1}}
	for i, p := range slices.Backward(primes) {
		records = withPrime(records, p, limit, moreThan)
		bounds[i] = records
	}
	return bounds
}

// from tries the products of r with primes from index i on.
func (s *search) from(r rich, i int) {
	left := s.high / r.m
	multiples := left - (s.low-1)/r.m
	if multiples == 0 || i == len(s.primes) || r.divisors*most(s.bounds[i], left) < s.best.divisors {
		return
	}
	if multiples <= 4 {
		for c := range multiples {
			s.best.improve((left - c) * r.m)
		}
		return
	}
	p := s.primes[i]
	for e := uint64(1); ; e++ {
		s.from(rich{r.m, r.divisors * e}, i+1)
		if r.m > s.high/p {
			return
		}
		r.m *= p
	}
}

// most returns the largest number of divisors of a record up to limit.
func most(records []rich, limit uint64) uint64 {
	i, found := slices.BinarySearchFunc(records, limit, func(r rich, limit uint64) int { return cmp.Compare(r.m, limit) })
	if !found {
		i--
	}
	return records[i].divisors
}
