package incremental

import (
	"math"

	"github.com/umbel-filters/umbel/plan"
)

// Plane is what is fixed of one plane.
type Layer struct {
	M     uint64 // cells (bits), at least 1; a multiple of 64 if 64 or more
	K     int    // cells set per key, 1 to bloom.MaxK
	Limit uint64 // bits with which it takes no more keys, 1 to M
}

// planeFor returns the smallest plane that takes so many keys in the mean and has a
// rate of at most p with the last of them, which may set K bits beyond Limit-1. It
// has a little more cells than the plane of plan.IncrementalLayers, in which that is left
// out: those of one or two keys.
func planeFor(keys uint64, k int, p float64) Layer {
	fill := math.Pow(p, 1/float64(k))
	at := func(m uint64) Layer {
		limit := math.Floor(float64(m)*fill*(1+1e-12)) - float64(k-1)
		if m > 1 { // with all bits set any number of keys would be in it
			limit = min(limit, float64(m-1))
		}
		return Layer{M: m, K: k, Limit: uint64(max(limit, 0))}
	}
	low, high := uint64(0), uint64(64)
	for high < 1<<56 && at(high).keys() < float64(keys) {
		low, high = high, high*2
	}
	for low+1 < high {
		if mid := low + (high-low)/2; at(mid).keys() < float64(keys) {
			low = mid
		} else {
			high = mid
		}
	}
	if high > 64 {
		high = (high + 63) &^ 63
	}
	return at(high)
}

// keys returns the number of keys with which the plane is expected to have Limit
// bits.
func (p Layer) keys() float64 {
	switch {
	case p.Limit == 0:
		return -1 // there is no such plane
	case p.M == 1:
		return 1
	case p.Limit >= p.M:
		return math.Inf(1)
	}
	return math.Log1p(-float64(p.Limit)/float64(p.M)) / math.Log1p(-1/float64(p.M)) / float64(p.K)
}

// ones returns the bits that are expected with n keys, not necessarily whole.
func (p Layer) ones(n float64) float64 {
	if p.M == 1 {
		return min(n, 1)
	}
	return -float64(p.M) * math.Expm1(n*float64(p.K)*math.Log1p(-1/float64(p.M)))
}

// closed returns the bits and the keys that are expected of the plane when it is
// full. The last key sets some bits beyond the limit: with steps of mean u and
// variance v a walk passes a limit, a whole number, by (u² + v)/2u - 1/2 in the mean
// (renewal theory; Feller 1971, volume II, chapter XI).
func (p Layer) closed() (ones, keys float64) {
	fill := float64(p.Limit) / float64(p.M)
	step := float64(p.K) * (1 - fill)
	ones = min(float64(p.M), float64(p.Limit)+max(0, (step+fill)/2-0.5))
	if p.M == 1 {
		return 1, 1
	}
	draws := math.Log1p(-min(ones, float64(p.M)-0.5)/float64(p.M)) / math.Log1p(-1/float64(p.M))
	return ones, draws / float64(p.K)
}

// rate returns the most that the plane's rate can be when it is full.
func (p Layer) rate() float64 {
	return plan.FPRateAtFill(float64(min(p.M, p.Limit+uint64(p.K)-1))/float64(p.M), p.K)
}
