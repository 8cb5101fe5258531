package scalable

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// almeida is the source of nearly all here.
const almeida = "Almeida, Baquero, Preguiça and Hutchison 2007"

// explain returns the formulas behind a filter of this shape with n keys in its first
// layer.
func (s Shape) explain(n uint64) []umbel.Formula {
	l := s.layer(0)
	size, r, p0 := slice(l), s.Tightening.rate(), s.First.rate()
	ten := s.layer(9)
	fs := []umbel.Formula{{
		What:    "bound of the false-positive rate, however many layers there are, f",
		General: "P_0 / (1 - r)",
		Numbers: fmt.Sprintf("%v / (1 - %v)", p0, r),
		Value:   fmt.Sprintf("%.6g", p0/(1-r)),
		Source:  almeida + ", section 3",
	}, {
		What:    "slices of the first layer, k_0",
		General: "ceil(log2(1/P_0))",
		Numbers: fmt.Sprintf("ceil(log2(1/%v))", p0),
		Value:   fmt.Sprint(l.K),
		Source:  almeida,
	}, {
		What:    fmt.Sprintf("false-positive rate with %d keys, in the first layer alone", n),
		General: "(1 - (1 - 1/slice)^n)^k_0",
		Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^%d)^%d", size, n, l.K),
		Value:   fmt.Sprintf("%.6g", plan.PartitionedFPRate(l.M, l.K, n)),
		Source:  almeida + ", equation (1)",
	}, {
		What:    "keys with which the first layer is half full, and another begins",
		General: "ln(1/2) / ln(1 - 1/slice)",
		Numbers: fmt.Sprintf("ln(1/2) / ln(1 - 1/%d)", size),
		Value:   fmt.Sprintf("%.6g keys", -math.Ln2/math.Log1p(-1/float64(size))),
		Source:  almeida,
	}, {
		What:    "memory of the first layer",
		General: "k_0 · slice / 8",
		Numbers: fmt.Sprintf("%d · %d / 8", l.K, size),
		Value:   fmt.Sprintf("%d bytes", l.M/8),
	}, {
		What:    "bits per key",
		General: "k_0 · slice / n",
		Numbers: fmt.Sprintf("%d · %d / %d", l.K, size, n),
		Value:   fmt.Sprintf("%.4g bits", float64(l.M)/float64(n)),
	}}
	if ten.Check() != nil {
		return fs
	}
	return append(fs, umbel.Formula{
		What:    "slices of the tenth layer, k_9",
		General: "ceil(log2(1/P_0) + 9 · log2(1/r))",
		Numbers: fmt.Sprintf("ceil(log2(1/%v) + 9 · log2(1/%v))", p0, r),
		Value:   fmt.Sprint(ten.K),
		Source:  almeida,
	}, umbel.Formula{
		What:    "cells of a slice of the tenth layer",
		General: "slice · growth^9",
		Numbers: fmt.Sprintf("%d · %d^9", size, s.Growth),
		Value:   fmt.Sprintf("%d cells", slice(ten)),
		Source:  almeida,
	})
}

// rate returns the rate of which l is the logarithm.
func (l Log) rate() float64 { return math.Exp2(-float64(l) / float64(one)) }
