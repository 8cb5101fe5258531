package dynamic

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/plan"
)

// sampled is the number of cells in which the dependence of layers is measured. Among 2^18 cells it
// deviates by less than 0.1 percent of the rate of a layer.
const sampled = 1 << 18

// negligible is the relative size of the effect of the dependence below which it is not measured,
// so that the stats of filters with low rates read each layer once.
const negligible = 1e-4

// dependent returns, for each layer, the probability that it returns true for a new key for which
// no earlier layer does, so that their compound rate is that of the filter. rates are the rates of
// the layers and fills their fill ratios. If layers were independent, it would return rates.
//
// All layers use the same positions, and a key that an earlier layer returns true for is not added,
// so a later layer avoids the cells of the earlier ones: see [expectedLayers]. A new key that
// layer 0 to i-1 return false for has a given cell with a probability proportional to the product
// of 1-fill^(k-1) over those of these layers that have it set. The share of the cells of layer i,
// weighted in this way, is its fill ratio for these keys. It is right for layers in any order,
// also after a merge.
//
// It also returns the factors by which the keys of the layers exceed the numbers that follow from
// their fill ratios: 1 + λv/2, where λv is the relative excess of the weighted share of the nonzero
// cells. They are 1 for layers that do not depend on each other.
func dependent(layers []arrays.Array, rates, fills []float64) (given, more []float64) {
	given, more = make([]float64, len(rates)), make([]float64, len(rates))
	copy(given, rates)
	largest := 0.0
	for i, p := range rates {
		largest, more[i] = max(largest, p), 1
	}
	if len(layers) < 2 || float64(layers[0].Shape.K)*largest*plan.CompoundFPRate(rates...) < negligible {
		return given, more
	}
	k := layers[0].Shape.K
	weights := newWeights(layers[0].Shape.M)
	for i, l := range layers {
		excess := weights.excess(l.Cells)
		given[i] = plan.FPRateAtFill(min(max(fills[i]+excess, 0), 1), k)
		if fills[i] < 1 {
			more[i] = 1 + max(0, excess)/(1-fills[i])/2
		}
		weights.reduce(l.Cells, 1-math.Pow(fills[i], float64(k-1)))
	}
	joint(layers, rates, given)
	return given, more
}

// weights are proportional to the probabilities of the first cells among those of a new key.
type weights []float64

func newWeights(m uint64) weights {
	w := make(weights, min(m, sampled))
	for i := range w {
		w[i] = 1
	}
	return w
}

// excess returns the weighted share of the nonzero cells of a, less the share without weights.
func (w weights) excess(a cells.Array) float64 {
	var all, inside, ones float64
	for _, x := range w {
		all += x
	}
	w.each(a, func(i int) {
		inside += w[i]
		ones++
	})
	if all == 0 {
		return 0 // no new key is left
	}
	return inside/all - ones/float64(len(w))
}

// reduce multiplies the weights of the nonzero cells of a by factor.
func (w weights) reduce(a cells.Array, factor float64) { w.each(a, func(i int) { w[i] *= factor }) }

// each calls f for the nonzero cells of a that have a weight.
func (w weights) each(a cells.Array, f func(i int)) {
	for j := 0; j*64 < len(w); j++ {
		for x := a.NonzeroWord(j); x != 0; x &= x - 1 {
			if i := j*64 + bits.TrailingZeros64(x); i < len(w) {
				f(i)
			}
		}
	}
}

// stats returns the stats of a filter from its layers and theirs.
func stats(layers []arrays.Array, of []umbel.Stats) umbel.Stats {
	rates, fills := make([]float64, len(of)), make([]float64, len(of))
	for i, s := range of {
		rates[i], fills[i] = s.FPRate, s.Fill
	}
	given, more := dependent(layers, rates, fills)
	for i := range of {
		s := &of[i]
		s.FPRate = given[i]
		s.Keys, s.Low, s.High = s.Keys*more[i], s.Low*more[i], s.High*more[i]
	}
	return layered.Stats(of)
}

// rateOf returns the rate of a filter with these layers, as Stats does.
func rateOf(layers []layered.Counted) float64 {
	rates, fills := make([]float64, len(layers)), make([]float64, len(layers))
	for i, l := range layers {
		rates[i], fills[i] = l.FPRate, l.Fill()
	}
	given, _ := dependent(arraysOf(layers), rates, fills)
	return plan.CompoundFPRate(given...)
}
