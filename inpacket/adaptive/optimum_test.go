package adaptive

import (
	"fmt"
	"testing"
)

func TestOptimum(t *testing.T) {
	for _, rate := range []float64{0.2, 0.1, 0.05, 0.01, 0.001} {
		for _, o := range []Objective{Independent, Hashed} {
			t.Run(fmt.Sprintf("%v/%g", o, rate), func(t *testing.T) {
				g := Goal{Objective: o, Rate: rate, Weights: Uniform(200)}
				r, err := Relax(g)
				if err != nil {
					t.Fatal(err)
				}
				d, err := Optimum(g)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("k %d, mean %.4f, bound %.4f, mass %.6f, whole %.3f sum %.1f, least %d, redrawn %.4f", r.K, r.Mean, r.Bound, r.mass(), d.Lengths().Mean(g.Weights), 200*d.Lengths().Mean(g.Weights), d.Least, d.Redrawn())
			})
		}
	}
}
