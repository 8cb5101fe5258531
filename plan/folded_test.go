package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFoldedAgainstSimulation folds filters of a few keys as kind folding does. The forecast is within 5
// percent of the mean rate, or 3 standard errors.
func TestFoldedAgainstSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []uint64{1, 2, 3, 5, 8} {
		for _, p := range []float64{0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9} {
			_, k, err := Size(n, p)
			if err != nil {
				t.Fatal(err)
			}
			m, err := BaseSize(n, k, p*5/6, p/6, 0)
			if err != nil { // no size for so few keys has a rate in the interval
				if m, err = SizeForK(n, k, p); err != nil {
					t.Fatal(err)
				}
				m *= DefaultOversize
			}
			sizes := FoldSizes(m, 1)
			most := make([]uint64, len(sizes))
			for i, s := range sizes {
				most[i] = uint64(math.Pow(p, 1/float64(k)) * float64(s))
			}
			var rates sample
			draws := make([]uint64, k*int(n))
			for range 1500 {
				for i := range draws {
					draws[i] = rng.Uint64N(m)
				}
				for i, s := range sizes {
					set := make([]bool, s)
					ones := uint64(0)
					for _, u := range draws {
						if c := u / (m / s); !set[c] {
							set[c] = true
							ones++
						}
					}
					if ones <= most[i] || i == len(sizes)-1 {
						rates.add(math.Pow(float64(ones)/float64(s), float64(k)))
						break
					}
				}
			}
			rates.wantMean(t, FoldedFPRate(sizes, most, k, n), 0.05)
		}
	}
}
