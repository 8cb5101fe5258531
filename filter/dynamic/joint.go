package dynamic

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/plan"
)

// combined is the largest number of layers whose joint rate is computed from all combinations of them.
const combined = 8

// joint replaces given[i] for the first layers by the value without an assumption on how their cells depend on
// each other. A cell is set in all layers of a set S with the share f(S) of the cells, so that a key that sets k
// independent cells is in none of the layers with the probability
//
//	Σ (-1)^|S| f(S)^k
//
// over all sets S of layers. The shares are those of the first cells. The joint probability is divided by that of
// independent layers with the same fill ratios, and the quotient multiplies the probability of the whole layers, which
// deviates less.
func joint(layers []arrays.Array, rates, given []float64) {
	n := min(len(layers), combined)
	k, size := layers[0].Shape.K, min(layers[0].Shape.M, sampled)
	shares := shares(layers[:n], size)
	none, apart, before := 1.0, 1.0, 1.0 // 1 is f of no layer
	for i := range n {
		for s := 1 << i; s < 2<<i; s++ {
			none += sign(s) * math.Pow(shares[s], float64(k))
		}
		alone := 1 - plan.FPRateAtFill(shares[1<<i], k)
		apart *= alone / (1 - rates[i])
		if !(none > 0 && apart > 0 && before > 0) { // a layer is full
			given[i], before = 1, 0
			continue
		}
		after := none / apart
		given[i] = min(max(1-after/before, 0), 1)
		before = after
	}
}

// shares returns, for each set of layers, the share of the first size cells that are set in all of them. Bit i of an index
// is layer i.
func shares(layers []arrays.Array, size uint64) []float64 {
	counts := make([]uint64, 1<<len(layers))
	for j := uint64(0); j*64 < size; j++ {
		var words [combined]uint64
		for i, l := range layers {
			words[i] = l.Cells.NonzeroWord(int(j))
		}
		for b := range min(64, size-j*64) {
			in := 0
			for i := range layers {
				in |= int(words[i]>>b&1) << i
			}
			counts[in]++
		}
	}
	for i := range layers { // from the cells of exactly a set to those of all sets that contain it
		for s := range counts {
			if s>>i&1 == 0 {
				counts[s] += counts[s|1<<i]
			}
		}
	}
	all := make([]float64, len(counts))
	for s, n := range counts {
		all[s] = float64(n) / float64(size)
	}
	return all
}

// sign is -1 for sets of an odd number of layers.
func sign(s int) float64 { return 1 - 2*float64(bits.OnesCount(uint(s))&1) }
