package plan

import (
	"math"
	"testing"
)

// TestLimitedAgainstSimulation adds keys to layers until each is full. The rate is exact for independent
// layers, so it is within 3 standard errors.
func TestLimitedAgainstSimulation(t *testing.T) {
	const trials = 20_000
	for _, layers := range [][]LimitedLayer{
		{{20, 3, 9}},
		{{13, 2, 5}, {17, 3, 8}},
		{{33, 5, 12}, {33, 5, 12}, {64, 6, 30}},
		{{1, 1, 1}, {64, 7, 30}, {10, 1, 10}},
	} {
		r := newRand(1)
		for _, n := range []uint64{0, 1, 2, 5, 12} {
			var rates sample
			for range trials {
				open := []*bits{newBits(layers[0].M)}
				open[0].clear()
				for range n {
					keys := make([][]uint64, len(layers)) // other positions in each layer
					known := false
					for i, l := range layers {
						for range l.K {
							keys[i] = append(keys[i], r.Uint64N(l.M))
						}
						known = known || i < len(open) && open[i].hasAll(keys[i])
					}
					if known {
						continue
					}
					last := len(open) - 1
					if open[last].ones >= layers[last].Limit && last < len(layers)-1 {
						last++
						open = append(open, newBits(layers[last].M))
						open[last].clear()
					}
					for _, at := range keys[last] {
						open[last].set(at)
					}
				}
				negative := 1.0
				for i, b := range open {
					negative *= 1 - FPRateAtFill(float64(b.ones)/float64(layers[i].M), layers[i].K)
				}
				rates.add(1 - negative)
			}
			// The mean of the product is not the product of the means, and the keys that are not added depend on
			// the cells.
			rates.wantMean(t, LimitedFPRate(layers, n), 0.015)
		}
	}
}

// One layer that is never closed is a plain filter.
func TestLimitedOfOneLayer(t *testing.T) {
	for _, n := range []uint64{0, 1, 7, 40} {
		if got, want := LimitedFPRate([]LimitedLayer{{200, 7, 1}}, n), FPRateExact(200, 7, n); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d keys: %g, want %g", n, got, want)
		}
	}
}
