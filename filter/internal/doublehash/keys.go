package doublehash

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// Keys is plan.Filter.Keys for a filter of m bits with k per key, 1 to MaxK. ones is the number of set bits. Some keys have fewer
// than k different bits, and some lie along others, so that the set bits of n keys are fewer on average and vary more than those of
// independent bits: in small filters, and always downward. The value is corrected by the mean, and the upper end of the
// interval by the variance.
func Keys(m uint64, k int, ones uint64) plan.Estimate {
	e := plan.Filter{M: m, K: k}.Keys(ones)
	if ones == 0 || math.IsInf(e.High, 1) {
		return e
	}
	M, K := float64(m), float64(min(uint64(k), m))
	mean, square := 0.0, 0.0 // of the bits that a key lacks
	for d, p := range fewer(m, int(K)) {
		lack := K - float64(d)
		mean, square = mean+p*lack, square+p*lack*lack
	}
	pair := 0.0 // variance of the bits that two keys have in common, beyond that of independent bits
	for r, weight := range overlaps(int(K), isPowerOfTwo(m)) {
		pair += weight * float64(r) * float64(r-1)
	}
	pair *= 2 / (M * M)

	value := e.Value / (1 - mean/K)
	reach := (e.High - e.Value) / planning.Sigmas95
	extra := (value*(square-mean*mean) + value*max(value-1, 0)/2*pair) / (K * K)
	e.High = value + planning.Sigmas95*math.Sqrt(reach*reach+extra)
	e.Value = value
	return e
}
