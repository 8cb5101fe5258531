package weighted

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Explain returns the formulas behind a filter of this shape with n keys in it.
func (s Shape) Explain(n uint64) []umbel.Formula {
	const source = "Bruck, Gao and Jiang 2006, corrected for unequal membership"
	classes, ks := s.plan(float64(n))
	fc := s.Forecast(n)
	load := fc.K * float64(n)
	fill := -math.Expm1(load * math.Log1p(-1/float64(s.M)))
	lines := []umbel.Formula{
		{
			What: "cells set, repeated ones included", General: "K = Σ n_c k_c",
			Numbers: fmt.Sprintf("%d · %.4g on average", n, fc.K), Value: fmt.Sprintf("%.0f", load), Source: source,
		},
		{
			What: "fill", General: "φ = 1 - (1 - 1/m)^K",
			Numbers: fmt.Sprintf("1 - (1 - 1/%d)^%.0f", s.M, load), Value: fmt.Sprintf("%.4g", fill), Source: "Bloom 1970; Mullin 1983",
		},
		{
			What: "weighted false-positive rate", General: "f = Σ r_c φ^(k_c)",
			Numbers: terms(s.Classes, fill), Value: fmt.Sprintf("%.4g", fc.FPRate), Source: source,
		},
	}
	if real, best, err := plan.WeightedK(s.M, classes); err == nil && len(ks) > 1 {
		for i, c := range classes {
			lines = append(lines, umbel.Formula{
				What: fmt.Sprintf("cells per key of class %d", i), General: "k_c = c + log2(r_c/n_c), c such that φ = 1/2",
				Numbers: fmt.Sprintf("%.4g + log2(%.4g/%.4g)", real[i]-math.Log2(c.Queries/c.Members), c.Queries, c.Members),
				Value:   fmt.Sprintf("%.2f, set %d", real[i], ks[i]), Source: source,
			})
		}
		lines = append(lines, umbel.Formula{
			What: "least rate, k_c being any real numbers", General: "n 2^(-(m/n) ln 2) Π (r_c/n_c)^(n_c/n)",
			Numbers: fmt.Sprintf("n = %d, m = %d", n, s.M), Value: fmt.Sprintf("%.4g", best), Source: source,
		})
	}
	return lines
}

// terms writes the sum of the weighted rate.
func terms(classes []Class, fill float64) string {
	sum := ""
	for i, c := range classes {
		if i > 0 {
			sum += " + "
		}
		sum += fmt.Sprintf("%.3g · %.4g^%d", c.Queries, fill, c.K)
	}
	return sum
}
