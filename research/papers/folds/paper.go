// Package folds recomputes the tables, figures and numbers of Sailhan and Stehr's
// "Folding and Unfolding Bloom Filters".
package folds

import (
	"github.com/umbel-filters/umbel/research/papers/contacts"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// Paper is Sailhan and Stehr 2012.
var Paper = piece.Paper{
	Number: "000",
	Title:  "Sailhan and Stehr, Folding and Unfolding Bloom Filters, IEEE iThings/GreenCom, 2012",
	Note: `
A filter of m cells can be folded to any divisor of m and keeps its keys. If m has many
divisors, the filter can follow the number of keys: it keeps a rate of ρ ± ε by folding to a
divisor in an interval. umbel's kind folding does that. m is the number of cells, k the number
of cells set per key, n the number of keys and ρ the rate. The paper has no measurements, and
the copy used here lacks the numbers of its figures.`,
	Pieces: append([]piece.Piece{
		equation1, equation6, lemma, table3, smooth, equation14, figure2, planning, oversize, selfFolding, foldRates, twoFolds, broadcast,
	}, contacts.Pieces...),
	Errata: errata,
}

var errata = []piece.Erratum{{
	Where:   "Equations (1) and (4)",
	Printed: "ρ ≈ 1 - e^(-kn/m)",
	Right:   "(1 - e^(-kn/m))^k, in (4) with m_(t+1)",
	Why:     "the power is missing: at m/n=8, k=5 printed 0.4647, right 0.02168, see 000/equation-1",
}, {
	Where:   "Section II",
	Printed: "b(1), ..., b(m), set at h mod m",
	Right:   "b(0), ..., b(m-1)",
	Why:     "h mod m is 0 to m-1",
}, {
	Where:   "Equation (6), and the text before it",
	Printed: "h mod ∏p_j, and nested",
	Right:   "h mod m_t, m_t = m_1/∏p_j",
	Why:     "of 50 positions, 25 are right after a fold by 5; after folds by 5 and 2, 25 are right, or 20 with nested mods; the others give false negatives",
}, {
	Where:   "Lemma",
	Printed: "l in [0, p_l], r in [0, p_r]",
	Right:   "l < p_l, r < p_r",
	Why:     "j = l + r p_l ends at p_l p_r - 1; the result holds, see 000/table-2",
}, {
	Where:   "Section III-A, cost of φ_l ∘ φ_r",
	Printed: "m(1 + 1/p_l)",
	Right:   "m(1 + 1/p_r)",
	Why:     "the fold by p_r comes first and leaves m/p_r cells",
}, {
	Where:   "Table II, sequential folding and unfolding",
	Printed: "O(f·m)",
	Right:   "O(m)",
	Why: "each fold leaves at most half of the cells, so all folds together read less than 2m; unfolding is one fold of " +
		"the original filter, which must be kept and receive all later keys, so a receiver can't unfold",
}, {
	Where:   "Table II, columns",
	Printed: "single query O(m), membership folding O(k)",
	Right:   "single folding O(m), membership query O(k)",
	Why:     "as in the text",
}, {
	Where:   "Table III",
	Printed: "70 largely composite numbers to 196560, 7 of them *",
	Right:   "81 from 2 on, 9 of them superior",
	Why:     "336 2160 2520 3360 3780 3960 4200 4320 4620 4680 5040 are missing; 2520 and 5040 deserve a *",
}, {
	Where:   "Section IV-A",
	Printed: "eleven highly composite numbers are < 831600, marked *",
	Right:   "38, of which 10 are superior",
	Why:     "the * of Table III are superior highly composite numbers",
}, {
	Where:   "Equation (11), \"smooth numbers are dense\"",
	Printed: "Ψ(x, y) ~ x ρ(u)",
	Right:   "true only for a fixed u",
	Why:     "there are 1273 7-smooth numbers up to 10^6, and x ρ(u) is 0.634",
}, {
	Where:   "The estimate of ρ(u)",
	Printed: "((e + α(1))/(u log u))^u",
	Right:   "((e + o(1))/(u log u))^u",
	Why:     "a misread o",
}, {
	Where:   "Equation (13)",
	Printed: "x ≥ m ≥ x+z",
	Right:   "x ≤ m ≤ x+z",
	Why:     "as printed, no m satisfies it",
}, {
	Where:   "Algorithm IV-B, Require",
	Printed: "z > x",
	Right:   "z < x",
	Why:     "the threshold is log x: in [10, 70], 60 is accepted for y = 3, because its 3-smooth part 12 is above 10",
}, {
	Where:   "Algorithm IV-B, lines 6 to 14",
	Printed: "for each i",
	Right:   "once, from -x mod p^j on",
	Why:     "each i repeats the marks of earlier ones: with line 12 corrected, it finds 33 5-smooth numbers in [100, 150]; there are 8",
}, {
	Where:   "Algorithm IV-B, line 12",
	Printed: "w ← log p",
	Right:   "w ← w + log p",
	Why:     "as printed it finds none of the 8",
}, {
	Where:   "Algorithm IV-B, lines 19 to 23",
	Printed: "a test of A outside any loop, ∩",
	Right:   "a test of w for each i, ∪, starting with the empty set",
	Why:     "A and the set are not initialized, and i is past the end",
}, {
	Where:   "Equation (14)",
	Printed: "1/(1 - (1 - ε/(ρ±ε))^(1/(kn)))",
	Right:   "1/(1 - (1 - (ρ±ε)^(1/k))^(1/(kn)))",
	Why:     "n=1000, k=2, ρ=0.02±0.005: printed 8963.3 ≤ m ≤ 4933.1, right 11621 ≤ m ≤ 15308",
}, {
	Where:   "Section IV-C, on entropy",
	Printed: "changing the folding each time lowers the rate",
	Right:   "true, but compressing the base is better",
	Why:     "folds by 3 and 4 of 36000 cells, 21000 bits: 0.0048; the base compressed to 10919 bits: 0.0029",
}}
