package compare

import (
	"math"

	"github.com/umbel-filters/umbel/plan"
)

// beyond estimates the number of keys of a union that are not in one of its two sets. union and set are the numbers of
// set cells, of m, with k per key, and other is the estimate of the second set.
//
// The error of the logarithm of a share of zero cells has the variance m·g(λ), and two of them, of a set and of its
// union, have the covariance m·g(λ of the set), with g(λ) = e^λ - 1 - λ: see plan.Filter.CommonKeys. So the variance of
// the difference is (m/k²)(g(λ of the union) - g(λ of the set)).
func beyond(m uint64, k int, union, set uint64, other plan.Estimate) plan.Estimate {
	most := surely(other).High
	if union == m {
		return plan.Estimate{Value: math.NaN(), High: most}
	}
	M, K := float64(m), float64(k)
	in, all := plan.Filter{M: m, K: k}.Keys(set).Value, plan.Filter{M: m, K: k}.Keys(union).Value
	g := func(keys float64) float64 {
		load := K / M * keys
		return math.Expm1(load) - load
	}
	variance := M / K / K * (g(all) - g(in))
	halfCell := 0.5 / K / (1 - float64(union)/M)
	return around(all-in, math.Sqrt(max(0, variance))+halfCell/sigmas, 0, most)
}
