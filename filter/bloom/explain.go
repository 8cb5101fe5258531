package bloom

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a filter of this shape with n keys in it.
func (s Shape) explain(n uint64) []umbel.Formula {
	m, k, p := s.M, s.K, plan.FPRate(s.M, s.K, n)
	fs := []umbel.Formula{{
		What:    fmt.Sprintf("false-positive rate with %d keys, p", n),
		General: "(1 - (1 - 1/m)^(k·n))^k",
		Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^(%d·%d))^%d", m, k, n, k),
		Value:   fmt.Sprintf("%.6g", p),
		Source:  "Bloom 1970, as corrected by Mullin 1983",
	}, {
		What:    "fill: the share of cells that are then set",
		General: "1 - (1 - 1/m)^(k·n)",
		Numbers: fmt.Sprintf("1 - (1 - 1/%d)^(%d·%d)", m, k, n),
		Value:   fmt.Sprintf("%.6g", plan.Fill(m, k, n)),
		Source:  "Bloom 1970",
	}, bestK(m, n)}
	if size, err := plan.SizeForK(n, k, p); err == nil {
		fs = append(fs, umbel.Formula{
			What:    "least size with that rate and k, m",
			General: "1 / (1 - (1 - p^(1/k))^(1/(k·n)))",
			Numbers: fmt.Sprintf("1 / (1 - (1 - %.9g^(1/%d))^(1/(%d·%d)))", p, k, k, n),
			Value:   fmt.Sprintf("%d cells", size),
			Source:  "the first formula, solved for m",
		})
	}
	fs = append(fs, design.Memory(m))
	return append(fs, design.BitsPerKey(m, n, p)...)
}

func bestK(m, n uint64) umbel.Formula {
	best := 0.0
	if m > 1 {
		best = -math.Ln2 / (float64(n) * math.Log1p(-1/float64(m)))
	}
	return umbel.Formula{
		What:    "best k: half of the cells are then set",
		General: "ln 2 / (-n · ln(1 - 1/m))",
		Numbers: fmt.Sprintf("ln 2 / (-%d · ln(1 - 1/%d))", n, m),
		Value:   fmt.Sprintf("%.4g, of whole numbers %d", best, plan.BestK(m, n)),
		Source:  "Bloom 1970; Broder and Mitzenmacher 2004",
	}
}
