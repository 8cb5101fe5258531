package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/umbel-filters/umbel/internal/number"
)

// Ladder returns the sizes that a filter of m cells can fold to, in ascending
// order, the last of them m: all divisors of m that are multiples of unit, the
// cells that stay together in a fold (1, a word, a block). It is empty if unit is
// 0 or doesn't divide m, or m is 0. A fold to size s is by the factor m/s.
func Ladder(m, unit uint64) []uint64 {
	if unit == 0 || m%unit != 0 {
		return nil
	}
	sizes := number.Divisors(m / unit)
	for i := range sizes {
		sizes[i] *= unit
	}
	return sizes
}

// FoldTarget returns the size of a [Ladder] to fold to with n distinct keys and k
// cells per key: the smallest with an [FPRate] of at most p+eps. inside tells
// whether its rate is also at least p-eps, so that the size is in the [Interval].
// If no size is large enough it returns the largest, and inside is false: compare
// FPRate of the result with p+eps. With no keys it returns the smallest.
//
// The error of rounding that is granted to a rate is a 10^-12th. It panics if the
// ladder is empty or k is less than 1; p and eps may be any numbers. It allocates
// nothing.
//
// Source: Sailhan and Stehr 2012, section IV-C, which asks for a divisor inside the
// interval and leaves open what to do if there is none.
func FoldTarget(ladder []uint64, n uint64, k int, p, eps float64) (size uint64, inside bool) {
	if len(ladder) == 0 {
		panic(fmt.Sprintf("plan: no sizes to fold to for %d keys", n))
	}
	i := sort.Search(len(ladder), func(i int) bool { return FPRate(ladder[i], k, n) <= (p+eps)*(1+tolerance) })
	if i == len(ladder) {
		return ladder[i-1], false
	}
	return ladder[i], FPRate(ladder[i], k, n) >= (p-eps)*(1-tolerance)
}

// Granularity returns by how much a fold is too large in the mean, as a fraction:
// the smallest size of the ladder that is at least s, divided by s, less 1, for s
// spread evenly on a logarithmic scale from a thousandth of the largest size, or
// from 1, up to the largest. The divisors of 2^20 give 0.44, those of 720,720 give
// 0.095. It panics if the ladder is empty.
func MeanOvershoot(ladder []uint64) float64 {
	if len(ladder) == 0 {
		panic("plan: no sizes to fold to")
	}
	top := float64(ladder[len(ladder)-1])
	if top == 1 {
		return 0
	}
	bottom := max(top/1000, 1)
	below, sum := bottom, 0.0
	for _, size := range ladder {
		if s := float64(size); s > below {
			// The integral of s/x - 1 over ln x from below to s.
			sum += s/below - 1 - math.Log(s/below)
			below = s
		}
	}
	return sum / math.Log(top/bottom)
}
