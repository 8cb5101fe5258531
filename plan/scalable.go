package plan

import (
	"fmt"
	"math"
)

// ScalableLayer is one layer of a scalable filter, as Almeida, Baquero, Preguiça and
// Hutchison 2007 plan it: a partitioned filter of K slices.
type ScalableLayer struct {
	FPRate   float64 // P_i, the rate it may reach
	K        int     // k_i slices
	Slice    uint64  // cells of a slice
	Capacity uint64  // keys it holds at FPRate
	HalfFull uint64  // keys with which half of its cells are set, so at a rate of 2^-K
}

// Cells returns the cells of all slices.
func (l ScalableLayer) Cells() uint64 { return l.Slice * uint64(l.K) }

// ScalableFirstRate returns P_0, the rate of the first layer of a scalable filter
// that is to answer at a rate of at most p however large it grows, with a tightening
// ratio r: p(1-r), since the sum of all P_0·r^i is P_0/(1-r) and the compound rate is
// less than the sum (Almeida et al. 2007, section 3). The error wraps [ErrRange] if p
// or r is not inside (0, 1).
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
// p0 and slices of slice0 cells; the rate of each layer is r times that of the one
// before, and its slices are growth times as large:
//
//	P_i = p0·r^i,  k_i = ceil(log2 1/P_i),  slice_i = slice0·growth^i
//
// Almeida et al. 2007, section 3. Summaries of the paper print k_i = k_0 + i·log2(1/r)
// for i > 1 and k_0 = log2(1/P_0): it holds for i = 1 as well, and none of the two is
// a whole number unless r is 1/2 and P_0 a power of it. With P_0 = 0.005, k_0 is 7.64
// and has to be 8; rounding down, to 7, the layer would reach its rate with 632 keys in
// place of 724 in slices of 1000.
//
// They say too that with a single slice the rate is the fill, P = p. A single array
// asked k times has about p^k all the same: with 64 cells, 8 keys and k = 4 the fill is
// 0.396, the rate 0.0254 ([FPRateExact]).
//
// Capacity is that of [PartitionedCapacity], exact in the mean; HalfFull is that of
// [HalfFull]. The error wraps [ErrRange] if p0 or r is not
// inside (0, 1), i is negative, growth or slice0 is zero, or the layer would have more
// than 2^63 cells.
func ScalableLayerAt(i int, p0, r float64, growth, slice0 uint64) (ScalableLayer, error) {
	if err := checkGoal(1, p0); err != nil {
		return ScalableLayer{}, err
	}
	if err := checkTightening(r); err != nil {
		return ScalableLayer{}, err
	}
	if i < 0 || growth == 0 || slice0 == 0 {
		return ScalableLayer{}, fmt.Errorf("plan: layer %d of slices from %d cells, growth %d, want at least 0, 1 and 1: %w", i, slice0, growth, ErrRange)
	}
	l := ScalableLayer{FPRate: p0 * math.Pow(r, float64(i)), Slice: slice0}
	bits := -math.Log2(p0) - float64(i)*math.Log2(r)
	l.K = int(math.Ceil(bits))
	cells := float64(slice0) * math.Pow(float64(growth), float64(i)) * bits
	if l.FPRate == 0 || !(cells < maxCells) {
		return ScalableLayer{}, fmt.Errorf("plan: layer %d would have a rate of %g and %.3g cells, beyond what there is: %w", i, l.FPRate, cells, ErrRange)
	}
	for range i {
		l.Slice *= growth
	}
	l.Capacity = PartitionedCapacity(l.Cells(), l.K, l.FPRate)
	l.HalfFull = HalfFull(l.Slice)
	return l, nil
}

// HalfFull returns the most keys with which at most half of a slice of so many cells is
// expected to be set, ln(1/2)/ln(1-1/slice) rounded down, and at least 1: the fill at
// which Almeida et al. 2007 say that a slice takes most keys for its size. It panics
// if slice is zero.
func HalfFull(slice uint64) uint64 {
	mustShape(slice, 1)
	return max(1, uint64(-math.Ln2/math.Log1p(-1/float64(slice))))
}

func checkTightening(r float64) error {
	if !(r > 0 && r < 1) {
		return fmt.Errorf("plan: tightening %v, want more than 0 and less than 1: %w", r, ErrRange)
	}
	return nil
}

// CompoundFPRate returns the probability that at least one of several filters
// answers yes for a key that none of them holds: 1 - (1-p_1)(1-p_2)…, at most the sum
// (Almeida et al. 2007, section 3). It keeps its relative precision however small the
// rates are. Rates are fractions in [0, 1]; of none it is 0.
func CompoundFPRate(rates ...float64) float64 {
	var log float64
	for _, p := range rates {
		log += math.Log1p(-p)
	}
	return -math.Expm1(log)
}
