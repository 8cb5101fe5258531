package splitblock

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a filter of this shape with n keys in it.
func (s Shape) explain(n uint64) []umbel.Formula {
	m, blocks := s.M, s.M/BlockBits
	p := plan.SplitBlockFPRate(m, n)
	fs := []umbel.Formula{{
		What:    fmt.Sprintf("false-positive rate with %d keys, p", n),
		General: "mean over j of (1 - (31/32)^j)^8, j from Binomial(n, 1/B)",
		Numbers: fmt.Sprintf("mean over j of (1 - (31/32)^j)^8, j from Binomial(%d, 1/%d)", n, blocks),
		Value:   fmt.Sprintf("%.6g", p),
		Source:  "Apache Parquet, BloomFilter.md; Putze, Sanders and Singler 2010, equation (3)",
	}, {
		What:    "the rate of a plain Bloom filter of that size with k = 8",
		General: "(1 - (1 - 1/m)^(8·n))^8",
		Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^(8·%d))^8", m, n),
		Value:   fmt.Sprintf("%.6g", plan.FPRate(m, K, n)),
		Source:  "Bloom 1970, as corrected by Mullin 1983",
	}, {
		What:    "blocks of 256 bits, B",
		General: "m / 256",
		Numbers: fmt.Sprintf("%d / 256", m),
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
		General: "1 - (1 - 1/(32·B))^n",
		Numbers: fmt.Sprintf("1 - (1 - 1/(32·%d))^%d", blocks, n),
		Value:   fmt.Sprintf("%.6g", -math.Expm1(float64(n)*math.Log1p(-1/(32*float64(blocks))))),
	}, design.Memory(m)}
	return append(fs, design.BitsPerKey(m, n, p)...)
}
