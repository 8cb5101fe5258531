package adaptive

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

var errata = []piece.Erratum{{
	Where:   "Theorem 1, and its proof",
	Printed: "where the sum of p_i over 1 to m",
	Right:   "is 1; for a filter that is cut, over 1 to M",
	Why:     "the 1 in (3) is that sum; with the mass of all M positions there and the sum in (3) up to m_i the formula stays right, see 002/theorem-1",
}, {
	Where:   "(11) to (15)",
	Printed: "(8) is approximately (15), \"which is exactly (3)\"",
	Right:   "they differ",
	Why:     "(11) needs a sum much below 1, and here it is ln 1/f = 2.3 and more; for 200 links and 0.1 the same m and k have 0.1 by (8) and 0.056 by (3), and (8) needs e ln(1/f) bits a link, 1.306 times a plain filter's: 002/likeness",
}, {
	Where:   "V-A, α(i, f, q)",
	Printed: "by the recursive process of (18) and (19)",
	Right:   "by (16), summed up from the first position on",
	Why:     "(18) and (19) are of odds of 1/(i+1) and of no others",
}, {
	Where:   "V-B, above (21)",
	Printed: "k := the sum of c_j, rounded up",
	Right:   "the sum of q_j",
	Why:     "the c_j are frequencies, whose sum is 1",
}, {
	Where:   "(21)",
	Printed: "sum to m, power nk",
	Right:   "sum to m_i, power ik, for i = 1 to n",
	Why:     "as in (16); printed it is one condition and not n",
}, {
	Where:   "Algorithm 1, first line",
	Printed: "the recursive approach in Sec. V",
	Right:   "in Sec. IV-A",
	Why:     "V-C says so itself",
}, {
	Where:   "Algorithm 1, loops",
	Printed: "k = rand(m_n); for k = 0, …, jj",
	Right:   "j = rand(m_n); for k = 1, …, j",
	Why:     "k is both the random index and what runs, jj isn't defined, and there is no q_0",
}, {
	Where:   "Algorithm 1, C_b = ∞",
	Printed: "the best cost begins at infinity",
	Right:   "with the cost of the start",
	Why:     "any first move is taken, one by 0.1 as well",
}, {
	Where:   "Algorithm 1, q_k ± δ",
	Printed: "without bounds",
	Right:   "q_k stays inside (0, 1)",
	Why:     "most odds are below 0.1, the first δ; how one keeps them up decides what comes out: of V-B 640 to 770 bits at 0.1",
}, {
	Where:   "Algorithm 1, δ > 0.0001",
	Printed: "steps of 0.1, 0.01, 0.001",
	Right:   "the optimum by the dual",
	Why:     "the best odds for 200 links are 0.005, and all positions before or behind one move together: 728 to 745 and 670 to 766 bits by seed, where 697 and 597 are best",
}, {
	Where:   "V-D",
	Printed: "saves an average of 40%",
	Right:   "of V-B alone",
	Why:     "the formula is 11 % longer than the incremental filter at f = 0.1 and 47 % at 0.001: 002/claims",
}, {
	Where:   "V-D",
	Printed: "up to 50% compared to the heuristic",
	Right:   "up to 43 %",
	Why:     "V-B's optimum, below which there is nothing, is 42 % shorter with 200 links and 43 % with 800: 002/growth",
}}
