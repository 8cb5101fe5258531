package partitioned

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a filter of this shape with n keys in it.
func (s Shape) explain(n uint64) []umbel.Formula {
	m, k, p := s.M, s.K, plan.PartitionedFPRate(s.M, s.K, n)
	fs := []umbel.Formula{{
		What:    fmt.Sprintf("false-positive rate with %d keys, p", n),
		General: "(1 - (1 - k/m)^n)^k",
		Numbers: fmt.Sprintf("(1 - (1 - %d/%d)^%d)^%d", k, m, n, k),
		Value:   fmt.Sprintf("%.6g", p),
		Source:  "Almeida, Baquero, Preguiça and Hutchison 2007",
	}, {
		What:    "cells in each of the k slices",
		General: "m / k",
		Numbers: fmt.Sprintf("%d / %d", m, k),
		Value:   fmt.Sprintf("%d cells", s.M/uint64(s.K)),
	}, {
		What:    "fill: the share of cells that are then set, in each slice",
		General: "1 - (1 - k/m)^n",
		Numbers: fmt.Sprintf("1 - (1 - %d/%d)^%d", k, m, n),
		Value:   fmt.Sprintf("%.6g", -math.Expm1(float64(n)*math.Log1p(-float64(k)/float64(m)))),
		Source:  "Almeida et al. 2007",
	}, {
		What:    "best k, nearly: half of the cells are then set",
		General: "(m / n) · ln 2",
		Numbers: fmt.Sprintf("(%d / %d) · ln 2", m, n),
		Value:   fmt.Sprintf("%.4g", float64(m)/float64(n)*math.Ln2),
		Source:  "Almeida et al. 2007",
	}}
	if size, err := plan.PartitionedSizeForK(n, k, p); err == nil {
		fs = append(fs, umbel.Formula{
			What:    "least size with that rate and k, in whole slices, m",
			General: "k / (1 - (1 - p^(1/k))^(1/n))",
			Numbers: fmt.Sprintf("%d / (1 - (1 - %.9g^(1/%d))^(1/%d))", k, p, k, n),
			Value:   fmt.Sprintf("%d cells", size),
			Source:  "the first formula, solved for m",
		})
	}
	fs = append(fs, design.Memory(m))
	return append(fs, design.BitsPerKey(m, n, p)...)
}
