// Package almeida contains the layers of scalable filters as Almeida, Baquero, Preguiça and Hutchison 2007
// plan them. Kind scalable has the same numbers of slices, in integers, but opens a layer when the one before
// is half full.
package almeida

import (
	"math"

	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Layer is one layer of a scalable filter, as planned by Almeida, Baquero, Preguiça and
// Hutchison 2007: a partitioned filter of K slices.
type Layer struct {
	FPRate   float64 // P_i, the highest rate that is allowed
	K        int     // k_i slices
	Slice    uint64  // cells of a slice
	Capacity uint64  // keys at which it reaches FPRate
	HalfFull uint64  // keys at which half of its cells are set, so that its rate is 2^-K
}

// Cells returns the cells of all slices.
func (l Layer) Cells() uint64 { return l.Slice * uint64(l.K) }

// FirstRate returns P_0, the rate of the first layer of a scalable filter that has a rate
// of at most p however much it grows, with a tightening ratio r. It is p(1-r), since the sum of
// all P_0·r^i is P_0/(1-r) and the compound rate is less than the sum (Almeida et al. 2007,
// section 3). It returns an error wrapping [plan.ErrRange] if p or r is not inside (0, 1).
func FirstRate(p, r float64) (float64, error) {
	if err := planning.CheckGoal(1, p); err != nil {
		return 0, err
	}
	if err := checkTightening(r); err != nil {
		return 0, err
	}
	return p * (1 - r), nil
}

// LayerAt returns layer i, from 0, of a scalable filter whose first layer has a rate of
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
// is 0.396 and the rate 0.0254 (plan.Filter.FPRateExact).
//
// Capacity is the largest number of keys with a rate of at most P_i by the formula of package partitioned,
// which is an exact mean. LayerAt returns an error wrapping [plan.ErrRange] if p0 or r is not inside (0, 1), i is negative, growth or slice0
// is zero, or the layer would have more than 2^63 cells.
func LayerAt(i int, p0, r float64, growth, slice0 uint64) (Layer, error) {
	if err := planning.CheckGoal(1, p0); err != nil {
		return Layer{}, err
	}
	if err := checkTightening(r); err != nil {
		return Layer{}, err
	}
	if i < 0 || growth == 0 || slice0 == 0 {
		return Layer{}, sentinel.Errorf(plan.ErrRange, "almeida: layer %d of slices from %d cells, growth %d, want at least 0, 1 and 1", i, slice0, growth)
	}
	l := Layer{FPRate: p0 * math.Pow(r, float64(i)), Slice: slice0}
	bits := -math.Log2(p0) - float64(i)*math.Log2(r)
	l.K = int(math.Ceil(bits))
	cells := float64(slice0) * math.Pow(float64(growth), float64(i)) * bits
	if l.FPRate == 0 || !(cells < planning.MaxCells) {
		return Layer{}, sentinel.Errorf(plan.ErrRange,
			"almeida: layer %d would have a rate of %g and %.3g cells, more than 2^63; use fewer layers", i, l.FPRate, cells)
	}
	for range i {
		l.Slice *= growth
	}
	full := partitioned.Shape{M: l.Cells(), K: l.K}
	l.Capacity = planning.Most(math.MaxUint64, func(n uint64) bool { return full.Forecast(n).FPRate <= l.FPRate })
	l.HalfFull = max(1, uint64(-math.Ln2/math.Log1p(-1/float64(l.Slice))))
	return l, nil
}

func checkTightening(r float64) error {
	if !(r > 0 && r < 1) {
		return sentinel.Errorf(plan.ErrRange, "almeida: tightening %v, want more than 0 and less than 1", r)
	}
	return nil
}
