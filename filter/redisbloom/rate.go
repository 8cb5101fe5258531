package redisbloom

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/plan"
)

// falseRate returns the false-positive rate of a layer of m bits, k per key, of
// which the share fill is set: fill^k, which RedisBloom plans with, and the excess of
// double hashing over it.
//
// The excess is of the order of 1/m, whatever k is, so that it shows in small layers
// and at low rates: 3.4 times the rate reserved at 100 keys and 1e-4 (TestRates). It
// has three parts. A key whose H2 mod m is 0, or is undone by its wraps past 2^64,
// has few positions: any number from 1 to k alike, or, where m is a power of two and
// wraps shift nothing, the order of H2. A key that runs along the positions of one that
// was added, forward or backward, shifted by u, meets its bits but for u. And where m
// is about k² or less, both may fill the same coset of a subgroup. Dillinger and
// Manolios 2004 describe the first two, Kirsch and Mitzenmacher 2006 bound them; the
// sum here is ours, and an approximation: measured rates are within 2 % of the result, and
// within a fifth where the excess is most of it (TestRates, from 10 keys on).
func falseRate(m uint64, k int, fill float64) float64 {
	if fill <= 0 || fill >= 1 {
		return fill
	}
	M, K := float64(m), float64(k)
	all := plan.FPRateAtFill(fill, k)
	load := -math.Log1p(-fill) // nk/m

	few := 0.0 // of positions that coincide
	if bits.OnesCount64(m) == 1 {
		for order, power := 1, fill; order < k; order, power = 2*order, power*power {
			few += float64(max(order/2, 1)) * (power - all)
		}
	} else {
		few = 2 / K * powers(fill, all, k-1)
	}
	along := 2 * load / K * (1 - all + 2*powers(fill, all, k-3))
	coset := load * K * K / (3 * M * M)
	return min(all+(few+along)/M+coset, 1)
}

// powers returns the sum of fill^i - all for i from 1 to n.
func powers(fill, all float64, n int) float64 {
	sum, power := 0.0, 1.0
	for range n {
		power *= fill
		sum += power - all
	}
	return sum
}

// falseRate returns the false-positive rate of a layer with n keys.
func (s sizing) falseRate(n uint64) float64 { return falseRate(s.bits, s.k, plan.Fill(s.bits, s.k, n)) }
