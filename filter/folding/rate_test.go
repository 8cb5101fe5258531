package folding

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// TestFoldedAgainstSimulation folds filters of a few keys as kind folding does. The forecast is within 5
// percent of the mean rate, or 3 standard errors.
func TestFoldedAgainstSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []uint64{1, 2, 3, 5, 8} {
		for _, p := range []float64{0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9} {
			f, err := plan.Size(n, p)
			if err != nil {
				t.Fatal(err)
			}
			k := f.K
			m, err := plan.Interval{K: k, FPRate: p * 5 / 6, Eps: p / 6}.Base(n, 0)
			if err != nil { // no size for so few keys has a rate in the interval
				if m, err = plan.SizeForK(n, k, p); err != nil {
					t.Fatal(err)
				}
				m *= plan.DefaultOversize
			}
			sizes := plan.FoldSizes(m, 1)
			most := make([]uint64, len(sizes))
			for i, s := range sizes {
				most[i] = uint64(math.Pow(p, 1/float64(k)) * float64(s))
			}
			var rates fixture.Sample
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
						rates.Add(math.Pow(float64(ones)/float64(s), float64(k)))
						break
					}
				}
			}
			rates.WantMean(t, foldedFPRate(sizes, most, k, n), 0.05)
		}
	}
}
