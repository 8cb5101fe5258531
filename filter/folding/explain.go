package folding

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a shape that is for so many keys.
func explain(s Shape, keys uint64) []umbel.Formula {
	low, high := s.Interval()
	face, fc := s.FoldedSize(keys), s.Forecast(keys)
	width := max(s.Width, 1)
	return []umbel.Formula{
		{
			What:    "interval of the rate",
			General: "[ρ - ε, ρ + ε]",
			Numbers: fmt.Sprintf("%.4g ± %.4g", (low+high)/2, (high-low)/2),
			Value:   fmt.Sprintf("%.4g to %.4g", low, high),
			Source:  "Sailhan and Stehr 2012, section III",
		},
		{
			What:    fmt.Sprintf("least size of the face with %d keys", keys),
			General: "1/(1 - (1 - (ρ+ε)^(1/k))^(1/(kn)))",
			Numbers: fmt.Sprintf("1/(1 - (1 - %.4g^(1/%d))^(1/%d))", high, s.K, uint64(s.K)*keys),
			Value:   sizeAt(keys, s.K, high),
			Source:  "Sailhan and Stehr 2012, equation (14), corrected",
		},
		{
			What:    "size of the base",
			General: "the number with most divisors in oversize times the interval of sizes",
			Numbers: fmt.Sprintf("%d sizes from %d to %d cells", len(s.ladder()), s.ladder()[0], s.M),
			Value:   fmt.Sprintf("%d cells", s.M),
			Source:  "Sailhan and Stehr 2012, section IV",
		},
		{
			What:    fmt.Sprintf("size of the face with %d keys", keys),
			General: "the smallest divisor of the base that isn't below the least size",
			Numbers: fmt.Sprintf("%d/%d", s.M, s.M/face),
			Value:   fmt.Sprintf("%d cells", face),
			Source:  "Sailhan and Stehr 2012, section IV-C",
		},
		{
			What:    "false-positive rate at that size",
			General: "(1 - (1 - 1/m)^(kn))^k",
			Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^%d)^%d", face, uint64(s.K)*keys, s.K),
			Value:   fmt.Sprintf("%.4g", plan.FPRate(face, s.K, keys)),
			Source:  "Bloom 1970; Mullin 1983",
		},
		{
			What:    "the same in the mean over filters, of which some are another size",
			General: "Σ P(size)·E(fill^k | size)",
			Numbers: fmt.Sprintf("fill at most %.4g", math.Pow(high, 1/float64(s.K))),
			Value:   fmt.Sprintf("%.4g", fc.FPRate),
			Source:  "normal approximation of an occupancy, Johnson and Kotz 1977",
		},
		{
			What:    "memory of base and face",
			General: "m·width/8, and 1/8 for each cell of the face",
			Numbers: fmt.Sprintf("%d·%d/8 + %d/8", s.M, width, face),
			Value:   fmt.Sprintf("%d bytes", fc.Bytes+(face+63)/64*8),
			Source:  "this kind keeps both",
		},
	}
}

// sizeAt returns the least size for a rate, in words.
func sizeAt(n uint64, k int, rate float64) string {
	m, err := plan.SizeForK(n, k, rate)
	if err != nil {
		return "none"
	}
	return fmt.Sprintf("%d cells", m)
}
