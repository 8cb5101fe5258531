package plan

import (
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// CompoundFPRate returns the probability that at least one of several filters returns a false
// positive for a key that none of them contains: 1 - (1-p_1)(1-p_2)…, which is at most the sum
// (Almeida et al. 2007, section 3). It assumes that the filters are independent. It keeps its
// relative precision however small the rates are. Rates are fractions in [0, 1]; of no rates it
// is 0.
func CompoundFPRate(rates ...float64) float64 {
	var log float64
	for _, p := range rates {
		log += math.Log1p(-p)
	}
	return 0 - math.Expm1(log) // not -0
}

// LayeredFPRate returns the rate of each of several equal layers that together have the rate p:
// 1-(1-p)^(1/layers).
func LayeredFPRate(p float64, layers int) float64 {
	return -math.Expm1(math.Log1p(-p) / float64(layers))
}

// ScalableLayer is one layer of a scalable filter, as planned by Almeida, Baquero, Preguiça and
// Hutchison 2007: a partitioned filter of K slices.
type ScalableLayer struct {
	FPRate   float64 // P_i, the highest rate that is allowed
	K        int     // k_i slices
	Slice    uint64  // cells of a slice
	Capacity uint64  // keys at which it reaches FPRate
	HalfFull uint64  // keys at which half of its cells are set, so that its rate is 2^-K
}

// Cells returns the cells of all slices.
func (l ScalableLayer) Cells() uint64 { return l.Slice * uint64(l.K) }

// ScalableFirstRate returns P_0, the rate of the first layer of a scalable filter that has a rate
// of at most p however much it grows, with a tightening ratio r. It is p(1-r), since the sum of
// all P_0·r^i is P_0/(1-r) and the compound rate is less than the sum (Almeida et al. 2007,
// section 3). It returns an error wrapping [ErrRange] if p or r is not inside (0, 1).
func ScalableFirstRate(p, r float64) (float64, error) {
	if err := checkGoal(1, p); err != nil {
		return 0, err
	}
	if err := checkTightening(r); err != nil {
		return 0, err
	}
	return p * (1 - r), nil
}

// ScalableLayerAt returns layer i, from 0, of a scalable filter whose first layer has a rate of
// p0 and slices of slice0 cells. The rate of each layer is r times that of the layer before, and
// its slices are growth times as large:
//
//	P_i = p0·r^i,  k_i = ceil(log2 1/P_i),  slice_i = slice0·growth^i
//
// Almeida et al. 2007, section 3. Summaries of the paper print k_i = k_0 + i·log2(1/r) for i > 1
// and k_0 = log2(1/P_0). The formula holds for i = 1 as well, and neither number is whole unless
// r is 1/2 and P_0 a power of it. With P_0 = 0.005, k_0 is 7.64 and must be 8; with 7, the layer
// would reach its rate with 632 keys instead of 724 in slices of 1000.
//
// They also say that with a single slice the rate equals the fill ratio, P = p. A single array
// that is tested at k cells still has about p^k: with 64 cells, 8 keys and k = 4 the fill ratio
// is 0.396 and the rate 0.0254 ([FPRateExact]).
//
// Capacity is [PartitionedCapacity], which is an exact mean. HalfFull is [HalfFull]. It returns
// an error wrapping [ErrRange] if p0 or r is not inside (0, 1), i is negative, growth or slice0
// is zero, or the layer would have more than 2^63 cells.
func ScalableLayerAt(i int, p0, r float64, growth, slice0 uint64) (ScalableLayer, error) {
	if err := checkGoal(1, p0); err != nil {
		return ScalableLayer{}, err
	}
	if err := checkTightening(r); err != nil {
		return ScalableLayer{}, err
	}
	if i < 0 || growth == 0 || slice0 == 0 {
		return ScalableLayer{}, sentinel.Errorf(ErrRange, "plan: layer %d of slices from %d cells, growth %d, want at least 0, 1 and 1", i, slice0, growth)
	}
	l := ScalableLayer{FPRate: p0 * math.Pow(r, float64(i)), Slice: slice0}
	bits := -math.Log2(p0) - float64(i)*math.Log2(r)
	l.K = int(math.Ceil(bits))
	cells := float64(slice0) * math.Pow(float64(growth), float64(i)) * bits
	if l.FPRate == 0 || !(cells < maxCells) {
		return ScalableLayer{}, sentinel.Errorf(ErrRange, "plan: layer %d would have a rate of %g and %.3g cells, more than 2^63; use fewer layers", i, l.FPRate, cells)
	}
	for range i {
		l.Slice *= growth
	}
	l.Capacity = PartitionedCapacity(l.Cells(), l.K, l.FPRate)
	l.HalfFull = HalfFull(l.Slice)
	return l, nil
}

// HalfFull returns the largest number of keys with which at most half of a slice of `slice`
// cells is expected to be set: ln(1/2)/ln(1-1/slice) rounded down, and at least 1. At this fill
// ratio a slice takes the most keys for its size, according to Almeida et al. 2007. It panics if
// slice is zero.
func HalfFull(slice uint64) uint64 {
	mustShape(slice, 1)
	return max(1, uint64(-math.Ln2/math.Log1p(-1/float64(slice))))
}

func checkTightening(r float64) error {
	if !(r > 0 && r < 1) {
		return sentinel.Errorf(ErrRange, "plan: tightening %v, want more than 0 and less than 1", r)
	}
	return nil
}
