package incremental

import (
	"fmt"
	"math"
	"strings"

	"github.com/umbel-filters/umbel"
)

// explain returns the formulas behind a shape for up to n keys.
func explain(s Shape, n uint64) []umbel.Formula {
	const paper = "Hao, Kodialam and Lakshman 2008"
	var cells, fills, factors []string
	no := 0.0
	for _, p := range s.Planes {
		cells = append(cells, fmt.Sprint(p.M))
		fills = append(fills, fmt.Sprintf("%d/%d", p.Limit, p.M))
		factors = append(factors, fmt.Sprintf("(1 - (%d/%d)^%d)", min(p.M, p.Limit+uint64(p.K)-1), p.M, p.K))
		no += math.Log1p(-p.rate())
	}
	fc := s.Forecast(n)
	return []umbel.Formula{
		{
			What:    "bits with which each plane is full",
			General: "b_i = m_i·q^(1/k_i) - (k_i - 1), q = 1 - (1-f)^(1/L) the rate of each of L planes",
			Numbers: strings.Join(fills, ", "),
			Value:   fmt.Sprintf("%d planes", len(s.Planes)),
			Source:  paper,
		},
		{
			What:    "false-positive rate when all planes are full, at most",
			General: "1 - product of (1 - ((b_i + k_i - 1)/m_i)^k_i)",
			Numbers: "1 - " + strings.Join(factors, ""),
			Value:   fmt.Sprintf("%.4g", -math.Expm1(no)),
			Source:  paper,
		},
		{
			What:    fmt.Sprintf("false-positive rate with %d keys", n),
			General: "the same with the bits expected then",
			Numbers: fmt.Sprintf("%d keys in %d planes", n, len(s.Planes)),
			Value:   fmt.Sprintf("%.4g", fc.FPRate),
			Source:  paper,
		},
		{
			What:    "memory when all planes are open",
			General: "sum of m_i/8",
			Numbers: "(" + strings.Join(cells, " + ") + ")/8",
			Value:   fmt.Sprintf("%d bytes", s.bytes()),
			Source:  paper,
		},
	}
}
