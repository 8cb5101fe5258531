package window

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a shape for n keys.
func explain(s Shape, n uint64) []umbel.Formula {
	const paper = "Shtul, Baquero and Almeida 2020"
	w := plan.Window{K: s.K, L: s.L, Slice: s.Slice, Limit: s.Limit}
	first := float64(s.Limit) / float64(s.Slice)
	lives := umbel.Formula{
		What:    "time for which a key is there, at least",
		General: "l·t, t the ticks of a generation",
		Numbers: fmt.Sprintf("%d·%d", s.L, s.Ticks),
		Value:   fmt.Sprintf("%d ticks", s.Window()),
		Source:  paper,
	}
	if s.byKeys() {
		lives = umbel.Formula{
			What:    "keys added after a key until it is forgotten, at least",
			General: "l·g, g the keys of a generation",
			Numbers: fmt.Sprintf("%d·%d", s.L, s.Limit),
			Value:   fmt.Sprintf("%d keys", s.Window()),
			Source:  paper,
		}
	}
	lines := []umbel.Formula{
		{
			What:    "keys of a generation",
			General: "g = n/l, rounded up",
			Numbers: fmt.Sprintf("%d/%d", n, s.L),
			Value:   fmt.Sprintf("%d keys, as bits of the newest slice", s.Limit),
			Source:  paper,
		},
		lives,
		{
			What:    "cells set in a slice that has k generations, before a shift",
			General: "r = 1 - (1 - g/s)^k, s the cells of a slice",
			Numbers: fmt.Sprintf("1 - (1 - %d/%d)^%d", s.Limit, s.Slice, s.K),
			Value:   fmt.Sprintf("%.4f", -math.Expm1(float64(s.K)*math.Log1p(-first))),
			Source:  paper,
		},
		{
			What:    "false-positive rate before a shift, the worst moment",
			General: "chance that k neighbours of k+l slices match; the i-th newest does with 1 - (1 - g/s)^min(i,k)",
			Numbers: fmt.Sprintf("%d neighbours of %d slices of %d cells", s.K, s.slices(), s.Slice),
			Value:   fmt.Sprintf("%.4g", w.FPRate()),
			Source:  paper + ", the recursion over slices and matches",
		},
		{
			What:    "memory",
			General: "(k+l)·s/8",
			Numbers: fmt.Sprintf("%d·%d/8", s.slices(), s.Slice),
			Value:   fmt.Sprintf("%d bytes", s.bytes()),
			Source:  paper,
		},
	}
	if !s.byKeys() {
		once := plan.FPRateAtFill(plan.Fill(s.Slice, 1, n), s.K)
		lines = append(lines, umbel.Formula{
			What:    "false-positive rate if all keys come in one generation",
			General: "(1 - (1 - 1/s)^n)^k",
			Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^%d)^%d", s.Slice, n, s.K),
			Value:   fmt.Sprintf("%.4g", once),
			Source:  "Almeida, Baquero, Preguiça and Hutchison 2007: k slices that hold all n keys",
		})
	}
	return lines
}
