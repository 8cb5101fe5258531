package plan

import "math"

// DynamicFPRate returns the probability that a dynamic filter answers yes for a key
// it does not hold, as a fraction in [0, 1]: a row of equal filters of m cells, k set
// per key, each filled with capacity keys before the next one is begun, and n distinct
// keys in all. It panics if m or capacity is zero, or k is less than 1.
//
// With s = floor(n/capacity) full filters it is
//
//	1 - (1 - p(capacity))^s · (1 - p(n - s·capacity))
//
// with p as [FPRate] has it: Guo, Wu, Chen and Luo 2006. It grows with the row, by
// about p(capacity) for each filter, so a row long enough is always wrong; that of a
// scalable filter doesn't.
func DynamicFPRate(m uint64, k int, capacity, n uint64) float64 {
	mustShape(m, k)
	mustShape(capacity, k)
	full := float64(n/capacity) * math.Log1p(-FPRate(m, k, capacity))
	if n < capacity {
		full = 0 // and not 0 times infinity
	}
	return -math.Expm1(full + math.Log1p(-FPRate(m, k, n%capacity)))
}
