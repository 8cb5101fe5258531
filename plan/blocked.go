package plan

import (
	"fmt"
	"math"
)

// BlockedFPRate returns the probability that a blocked filter answers yes for a
// key it does not hold, as a fraction in [0, 1]. The filter has m bits in blocks
// of block bits, sets k bits of one block per key (the choice of block not
// counted) and holds n distinct keys. Bits beyond the last whole block are not
// used. It panics if block or k is zero, k is negative, or m is less than block.
//
// It averages the rate of one block with i keys, (1-(1-1/b)^(ki))^k, over the
// distribution of the load i: Putze, Sanders and Singler 2010, equation (3). They
// take the load as Poisson, which it is for many blocks; we take it as binomial,
// which it is for any number, so that one block is a plain filter. With m=1024,
// b=512, n=100, k=6 the rate is 0.00815, for which Poisson gives 0.00868. Terms
// below 1e-9 of the sum are left out. The time grows with the square root of the
// mean load; above a mean load of 2^16 the mean of the rates one standard
// deviation above and below it is taken instead.
//
// Within a block the cells are taken to be independent, as in [FPRate]. At ten bits
// per key and k=6 the result is therefore 0.9 percent low with blocks of 512 bits,
// 1.8 percent with 256, and 6 percent with 64.
func BlockedFPRate(m, block uint64, k int, n uint64) float64 {
	mustShape(m, k)
	if block == 0 || m < block {
		panic(fmt.Sprintf("plan: m=%d bits in blocks of %d, want at least one block of at least one bit", m, block))
	}
	b := float64(block)
	return overLoad(n, m/block, func(load float64) float64 {
		return FPRateAtFill(fillAfter(b, float64(k)*load), k)
	})
}

// BlockedSize returns the least number m of bits, a multiple of block, for which a
// blocked filter has a [BlockedFPRate] of at most p with n distinct keys, over all
// k, and the least such k. The best k is below that of a plain filter:
// Putze, Sanders and Singler's Table I takes k = (m/n) ln 2, rounded, and needs 90
// bits per key to be as good as a plain filter of 34; with the best k 51 are
// enough.
//
// The error wraps [ErrRange] if n or block is zero, p is not inside (0, 1), or m
// would be above 2^63.
func BlockedSize(n, block uint64, p float64) (m uint64, k int, err error) {
	return blockedSize(n, block, p, 1, highestK(p))
}

// BlockedSizeForK is [BlockedSize] for a given number k of bits per key. The error
// wraps [ErrRange] also if k is less than 1.
func BlockedSizeForK(n, block uint64, k int, p float64) (m uint64, err error) {
	if err := checkK(k); err != nil {
		return 0, err
	}
	m, _, err = blockedSize(n, block, p, k, k)
	return m, err
}

func blockedSize(n, block uint64, p float64, kLow, kHigh int) (m uint64, k int, err error) {
	if block == 0 {
		return 0, 0, fmt.Errorf("plan: blocks of 0 bits, want at least 1; 512 bits are a cache line: %w", ErrRange)
	}
	unit := func(int) uint64 { return block }
	return leastSize(n, p, kLow, kHigh, unit, func(m uint64, k int) float64 { return BlockedFPRate(m, block, k, n) })
}

// overLoad returns the mean of f(i) over the load i of one of blocks blocks that n
// keys choose among at random: Binomial(n, 1/blocks). It takes f to be between 0
// and 1, not to fall, and to have a concave logarithm, as 1-q^i to the power k
// has; then the terms rise to one peak and fall. Weights start at 1 at the most
// likely load and are multiplied up and down from there, which needs no factorial
// and works for every n; terms below 1e-9 of both sums are left out.
func overLoad(n, blocks uint64, f func(load float64) float64) float64 {
	const negligible = 1e-9
	N, B := float64(n), float64(blocks)
	if blocks == 1 || n == 0 {
		return f(N)
	}
	mean := N / B
	if mean > 1<<16 {
		sd := math.Sqrt(mean * (1 - 1/B))
		return (f(mean-sd) + f(mean+sd)) / 2
	}
	mode := math.Floor((N + 1) / B)
	weights, sum := 1.0, f(mode)
	add := func(i, w float64) (more bool) {
		term := w * f(i)
		weights += w
		sum += term
		return w > negligible*weights || term > negligible*sum
	}
	for i, w := mode, 1.0; i < N; i++ {
		w *= (N - i) / (i + 1) / (B - 1)
		if !add(i+1, w) {
			break
		}
	}
	for i, w := mode, 1.0; i > 0; i-- {
		w *= i / (N - i + 1) * (B - 1)
		if !add(i-1, w) {
			break
		}
	}
	return sum / weights
}
