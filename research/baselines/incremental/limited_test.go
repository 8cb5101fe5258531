package incremental

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/plan"
)

// TestLimitedAgainstSimulation adds keys to layers until each is full. The rate is exact for independent
// layers, so it is within 3 standard errors.
func TestLimitedAgainstSimulation(t *testing.T) {
	const trials = 20_000
	for _, layers := range [][]Layer{
		{{20, 3, 9}},
		{{13, 2, 5}, {17, 3, 8}},
		{{33, 5, 12}, {33, 5, 12}, {64, 6, 30}},
		{{1, 1, 1}, {64, 7, 30}, {10, 1, 10}},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range []uint64{0, 1, 2, 5, 12} {
			var sum, squares float64
			for range trials {
				open := [][]bool{make([]bool, layers[0].M)}
				for range n {
					keys := make([][]uint64, len(layers)) // other positions in each layer
					known := false
					for i, l := range layers {
						for range l.K {
							keys[i] = append(keys[i], r.Uint64N(l.M))
						}
						known = known || i < len(open) && !slices.ContainsFunc(keys[i], func(at uint64) bool { return !open[i][at] })
					}
					if known {
						continue
					}
					last := len(open) - 1
					if ones(open[last]) >= layers[last].Limit && last < len(layers)-1 {
						last++
						open = append(open, make([]bool, layers[last].M))
					}
					for _, at := range keys[last] {
						open[last][at] = true
					}
				}
				negative := 1.0
				for i, b := range open {
					negative *= 1 - math.Pow(float64(ones(b))/float64(layers[i].M), float64(layers[i].K))
				}
				sum, squares = sum+1-negative, squares+square(1-negative)
			}
			// The mean of the product is not the product of the means, and the keys that are not added depend on
			// the cells.
			mean, want := sum/trials, limitedFPRate(layers, n)
			if sigma := math.Sqrt((squares/trials - square(mean)) / trials); math.Abs(mean-want) > 3*sigma+0.015*want {
				t.Errorf("%v, %d keys: %g measured, want %g, sigma %g", layers, n, mean, want, sigma)
			}
		}
	}
}

func ones(bits []bool) (n uint64) {
	for _, b := range bits {
		if b {
			n++
		}
	}
	return n
}

// One layer that is never closed is a plain filter.
func TestLimitedOfOneLayer(t *testing.T) {
	for _, n := range []uint64{0, 1, 7, 40} {
		if got, want := limitedFPRate([]Layer{{200, 7, 1}}, n), (plan.Filter{M: 200, K: 7}).FPRateExact(n); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d keys: %g, want %g", n, got, want)
		}
	}
}
