package plan

import (
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestExtremes: formulas return numbers that are not negative, or an error, for arguments at the ends of their ranges.
func TestExtremes(t *testing.T) {
	both := func(b Bits) (mean, deviation float64) { return b.Mean, b.Deviation }
	fixture.WantFormulas(t, map[string]any{
		"Fill":     func(m uint64, k int, n uint64) float64 { return Filter{m, k}.Fill(n) },
		"FPRate":   func(m uint64, k int, n uint64) float64 { return Filter{m, k}.FPRate(n) },
		"Capacity": func(m uint64, k int, p float64) uint64 { return Filter{m, k}.Capacity(p) },
		"WireBits": func(m uint64, k int, n uint64) (float64, float64) { return both(Filter{m, k}.WireBits(n)) },
		"DeltaBits": func(m uint64, k int, n uint64, c float64) (float64, float64) {
			return both(Filter{m, k}.DeltaBits(n, c))
		},
		"XORDeltaBits": func(m uint64, k int, n uint64, c float64) (float64, float64) {
			return both(Filter{m, k}.XORDeltaBits(n, c))
		},
		"Size": Size, "SizeForK": SizeForK, "BestK": BestK, "RoundFoldable": RoundFoldable,
	})
}
