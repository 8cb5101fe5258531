package blocked

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a filter of this shape with n keys in it.
func (s Shape) explain(n uint64) []umbel.Formula {
	m, w, b, k := s.M, s.Words, s.Bits, s.Words*s.Bits
	blocks := m / BlockBits
	p := plan.BlockedFPRate(m, w, b, n)
	inWord := -math.Expm1(float64(b) * math.Log1p(-1.0/wordBits))
	hit := float64(w) / blockWords * inWord / float64(blocks)
	fs := []umbel.Formula{{
		What:    fmt.Sprintf("false-positive rate with %d keys, p", n),
		General: "mean over j of P(w words of a block with j keys have the b bits of a key), j from Binomial(n, 1/B)",
		Numbers: fmt.Sprintf("mean over j of P(%d words of a block with j keys have the %d bits of a key), j from Binomial(%d, 1/%d)", w, b, n, blocks),
		Value:   fmt.Sprintf("%.6g", p),
		Source:  "Putze, Sanders and Singler 2010, equation (3); words: Lang, Neumann, Kemper and Boncz 2019, section 3",
	}, {
		What:    "the rate of a plain Bloom filter of that size with k = w·b",
		General: "(1 - (1 - 1/m)^(k·n))^k",
		Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^(%d·%d))^%d", m, k, n, k),
		Value:   fmt.Sprintf("%.6g", plan.FPRate(m, k, n)),
		Source:  "Bloom 1970, as corrected by Mullin 1983",
	}, {
		What:    "blocks of 512 bits, a cache line each, B",
		General: "m / 512",
		Numbers: fmt.Sprintf("%d / 512", m),
		Value:   fmt.Sprintf("%d blocks", blocks),
	}, {
		What:    "keys in a block, in the mean",
		General: "n / B",
		Numbers: fmt.Sprintf("%d / %d", n, blocks),
		Value:   fmt.Sprintf("%.4g keys", float64(n)/float64(blocks)),
	}, {
		What:    "their standard deviation: what a plain filter hasn't",
		General: "sqrt((n / B) · (1 - 1/B))",
		Numbers: fmt.Sprintf("sqrt((%d / %d) · (1 - 1/%d))", n, blocks, blocks),
		Value:   fmt.Sprintf("%.4g keys", math.Sqrt(float64(n)/float64(blocks)*(1-1/float64(blocks)))),
	}, {
		What:    "fill: the share of cells that are then set",
		General: "1 - (1 - (w/8) · (1 - (63/64)^b) / B)^n",
		Numbers: fmt.Sprintf("1 - (1 - (%d/8) · (1 - (63/64)^%d) / %d)^%d", w, b, blocks, n),
		Value:   fmt.Sprintf("%.6g", -math.Expm1(float64(n)*math.Log1p(-hit))),
	}, {
		What:    "cells set per key, k",
		General: "w · b",
		Numbers: fmt.Sprintf("%d · %d", w, b),
		Value:   fmt.Sprint(k),
	}, design.Memory(m)}
	return append(fs, design.BitsPerKey(m, n, p)...)
}
