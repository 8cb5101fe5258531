package number

import (
	"cmp"
	"slices"
)

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
