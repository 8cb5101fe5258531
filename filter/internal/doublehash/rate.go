package doublehash

import (
	"iter"
	"math"
	"math/bits"
)

// MaxK is the largest number of bits per key for which rates are computed: the most that RedisBloom's arithmetic gives a
// layer, see package redisbloom.
const MaxK = 1075

// FPRateAtFill returns the false-positive rate of a filter of m bits, k per key, 1 to MaxK, with the
// given fill ratio, as a fraction: what RedisBloom and Nix plan with, fill^k, corrected for bits that are
// drawn without repetition, plus the excess due to double hashing.
//
// The k bits of most keys are different ones, so that with x of m bits set the probability is
// x(x-1)…/(m(m-1)…): with 64 bits, half of them set, and k = 5, that is 0.026, and fill^k is 0.031.
//
// The excess is of the order of 1/m for every k, so it matters in small filters and at low
// rates: at 100 keys and 1e-4, the rate is 3.4 times the one that a layer of RedisBloom is reserved for
// (TestRates of package redisbloom). It has
// two parts. First, a key whose H2 mod m is 0, or is canceled by its wraps past 2^64, has
// few positions: any number from 1 to k with equal probability or, if m is a power of two, so
// that wraps shift nothing, the order of H2. Second, the step of a key may be the step of a
// key that was added, or its double or another simple fraction, forward or backward; they then
// share many bits: see related. Dillinger and Manolios 2004 describe both for equal steps,
// Kirsch and Mitzenmacher 2006 bound them; the sum here is ours, and an approximation: measured
// rates are within 5 percent of the result, and within 10 percent where the excess is most of the
// rate (TestRates, TestTinyLayers). With 13 bits per
// key or more in less than 200 bits, which no layer of RedisBloom has, the result is up to a third low.
func FPRateAtFill(m uint64, k int, fill float64) float64 {
	if fill <= 0 || fill >= 1 {
		return min(max(fill, 0), 1)
	}
	M := float64(m)
	var set rates // set[i] is the probability that i different bits are set
	set[0] = 1
	for i := range k {
		set[i+1] = set[i] * max(0, fill*M-float64(i)) / max(1, M-float64(i))
	}
	few := 0.0
	for d, p := range fewer(m, k) {
		few += p * (set[d] - set[k])
	}
	keys := -math.Log1p(-fill) * M / float64(k)
	return min(max(set[k]+few+2*keys/(M*M)*related(&set, k, isPowerOfTwo(m)), 0), 1)
}

// rates are indexed by numbers of bits.
type rates [MaxK + 1]float64

func isPowerOfTwo(m uint64) bool { return bits.OnesCount64(m) == 1 }

// fewer yields the numbers of different bits below k that a key may have, and their probabilities.
func fewer(m uint64, k int) iter.Seq2[int, float64] {
	M, K := float64(m), float64(k)
	return func(yield func(d int, p float64) bool) {
		for d := 1; d < k; {
			p, next := 2/(K*M), d+1
			if isPowerOfTwo(m) {
				p, next = float64(max(d/2, 1))/M, 2*d
			}
			if !yield(d, p) {
				return
			}
			d = next
		}
	}
}

// related returns the sum over the ways in which a key can lie along another one, of the
// excess of the probability that the other bits are set. If r bits of two keys coincide, the excess is set[k-r] less its
// Newton expansion to the second order in r, since the probability that a bit or a pair of bits coincides is the same as for
// random bits.
func related(set *rates, k int, exact bool) (sum float64) {
	if k < 3 {
		return 0 // two bits are no more than a pair
	}
	first, second := set[k-1]-set[k], set[k-2]-2*set[k-1]+set[k]
	for r, weight := range overlaps(k, exact) {
		if r >= 3 {
			R := float64(r)
			sum += weight * (set[k-r] - set[k] - R*first - R*(R-1)/2*second)
		}
	}
	return sum
}

// overlaps yields the numbers of bits that coincide if a key lies along another one, with weights: for each relation of
// their steps and each first pair of bits, which have a probability of 2/m² together. With steps s and s' and p·s' = q·s
// mod m, bits i0 + q·t of one key and j0 + p·t of the other coincide if one pair does. Steps
// that differ by m/2 share every second bit. Fractions above 3 share few bits and are omitted. If m is
// not a power of two, wraps shift some of the bits; by measurement, about 7/k of the fractions remain.
func overlaps(k int, exact bool) iter.Seq2[int, float64] {
	fraction := 1.0
	if !exact {
		fraction = min(1, 7/float64(k))
	}
	return func(yield func(r int, weight float64) bool) {
		each := func(p, q, i0, j0 int) bool {
			r := 1 + min((k-1-i0)/q, (k-1-j0)/p)
			if p != q {
				return yield(r, fraction)
			}
			return yield(r, 1) && yield((r+1)/2, fraction) && yield(r/2, fraction)
		}
		for _, f := range [...]struct{ p, q int }{{1, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 3}, {3, 2}} {
			for i0 := range k { // the first pair of each chain of pairs: i0 < q, or j0 < p
				firsts := k
				if i0 >= f.q {
					firsts = min(f.p, k)
				}
				for j0 := range firsts {
					if !each(f.p, f.q, i0, j0) {
						return
					}
				}
			}
		}
	}
}

// FPRate returns the expected false-positive rate of a filter of m bits, k per key, 1 to MaxK, with n keys, as a
// fraction: the mean of that one standard deviation of the number of set bits above and below its expected
// value. A key sets d different bits on average. Bits of different keys are independent (Johnson and Kotz 1977).
func FPRate(m uint64, k int, n uint64) float64 {
	k = int(min(uint64(k), m)) // different bits
	M, d := float64(m), float64(k)
	for few, p := range fewer(m, k) {
		d -= p * (float64(k) - float64(few))
	}
	switch {
	case n == 0:
		return 0
	case d >= M-1: // one key sets all bits, or all but one
		return 1
	}
	N := float64(n)
	zero := math.Exp(N * math.Log1p(-d/M))
	both := math.Exp(N * (math.Log1p(-d/M) + math.Log1p(-d/(M-1))))
	fill, variance := 1-zero, zero*(1-zero)/M+(1-1/M)*(both-zero*zero)
	deviation := math.Sqrt(max(0, variance))
	return (FPRateAtFill(m, k, fill+deviation) + FPRateAtFill(m, k, fill-deviation)) / 2
}
