package folds

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

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
	Why:     "of 50 positions folded by 5, 25 are right; by 5 and 2, 25 and, nested, 20; the others give false negatives",
}, {
	Where:   "Lemma",
	Printed: "l in [0, p_l], r in [0, p_r]",
	Right:   "l < p_l, r < p_r",
	Why:     "j = l + r p_l runs to p_l p_r - 1; the result holds, see 000/table-2",
}, {
	Where:   "Section III-A, cost of φ_l ∘ φ_r",
	Printed: "m(1 + 1/p_l)",
	Right:   "m(1 + 1/p_r)",
	Why:     "the fold by p_r comes first and leaves m/p_r cells",
}, {
	Where:   "Table II, sequential folding and unfolding",
	Printed: "O(f·m)",
	Right:   "O(m)",
	Why:     "each fold leaves half at most, so all read less than 2m cells; an unfolding is one fold of the first filter, which has to be kept with all later keys, so a receiver can't",
}, {
	Where:   "Table II, columns",
	Printed: "single query O(m), membership folding O(k)",
	Right:   "single folding O(m), membership query O(k)",
	Why:     "as the text has it",
}, {
	Where:   "Table III",
	Printed: "70 largely composite numbers to 196560, 7 of them *",
	Right:   "81 from 2 on, 9 of them superior",
	Why:     "336 2160 2520 3360 3780 3960 4200 4320 4620 4680 5040 are missing, the * of 2520 and 5040 with them",
}, {
	Where:   "Section IV-A",
	Printed: "eleven highly composite numbers are < 831600, marked *",
	Right:   "38, of which 10 are superior",
	Why:     "the * of Table III are superior highly composite numbers",
}, {
	Where:   "Equation (11), \"smooth numbers are dense\"",
	Printed: "Ψ(x, y) ~ x ρ(u)",
	Right:   "true for a fixed u alone",
	Why:     "7-smooth numbers to 10^6: 1273, and x ρ(u) is 0.634",
}, {
	Where:   "The estimate of ρ(u)",
	Printed: "((e + α(1))/(u log u))^u",
	Right:   "((e + o(1))/(u log u))^u",
	Why:     "a misread o",
}, {
	Where:   "Equation (13)",
	Printed: "x ≥ m ≥ x+z",
	Right:   "x ≤ m ≤ x+z",
	Why:     "no m is meant otherwise",
}, {
	Where:   "Algorithm IV-B, Require",
	Printed: "z > x",
	Right:   "z < x",
	Why:     "with the threshold log x: in [10, 70], 60 has the 3-smooth part 12, which is above 10",
}, {
	Where:   "Algorithm IV-B, lines 6 to 14",
	Printed: "for each i",
	Right:   "once, from -x mod p^j on",
	Why:     "each i marks again what earlier ones did: with line 12 mended it finds 33 5-smooth numbers in [100, 150], of which there are 8",
}, {
	Where:   "Algorithm IV-B, line 12",
	Printed: "w ← log p",
	Right:   "w ← w + log p",
	Why:     "as printed it finds none of the 8",
}, {
	Where:   "Algorithm IV-B, lines 19 to 23",
	Printed: "a test of A outside of any loop, ∩",
	Right:   "of w, for each i, ∪, from the empty set",
	Why:     "A and the set have no beginning, and i is past the end",
}, {
	Where:   "Equation (14)",
	Printed: "1/(1 - (1 - ε/(ρ±ε))^(1/(kn)))",
	Right:   "1/(1 - (1 - (ρ±ε)^(1/k))^(1/(kn)))",
	Why:     "n=1000, k=2, ρ=0.02±0.005: printed 8963.3 ≤ m ≤ 4933.1, right 11621 ≤ m ≤ 15308",
}, {
	Where:   "Section IV-C, on entropy",
	Printed: "another folding each time lowers the rate",
	Right:   "true, and not worth it",
	Why:     "folds by 3 and 4 of 36000 cells, 21000 bits: 0.0048; the base compressed to 10919 bits: 0.0029",
}}
