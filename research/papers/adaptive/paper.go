// Package adaptive recomputes the figures of paper 002, Heszberger et al. 2010, "Adaptive
// Bloom filters for multicast addressing", and checks its claims.
package adaptive

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Heszberger et al. 2010.
var Paper = piece.Paper{
	Number: "002",
	Title:  "Heszberger, Tapolcai, Gulyás, Biró, Zahemszky and Ho, Adaptive Bloom Filters for Multicast Addressing, 2010",
	Note: `
The paper describes filters for packet headers with few or many links. Codewords are longer than
any header, and the probability of a one decreases along them; a header with i links consists of
the first m_i bits. The copy used here lacks the numbers of the figures, so most rows have no
printed number. umbel has the paper's formula and the exact optimum of both of its problems
(package multicast/adaptive); "search" is Algorithm 1, corrected, averaged over seeds. The other
filters are models: the incremental filter has layers with the best sizes, and the scalable
filter has P_0 = f/2 and m_0 = 128, as a slice of the first layer or as the whole first layer.

Results for equally frequent sizes: the closed formula is worse than a filter of a fixed length.
The optima nearly reach what the paper claims for its search. A plain filter of any length is a
fifth shorter than all of them, and a third shorter if small sets are frequent. This is one form
of umbel's headers. Another form, which needs the links adjacent to the tree, is another third
shorter (002/costs).

Results for forwarded packets, from 002/networks on: at the paper's rate, most trees have loops
in dense networks; at a tenth of that rate, packets almost always stay on their trees. Filters
that umbel searches with the adjacent links have no false forwards and less than half the bytes,
as long as the sender knows the network.`,
	Pieces: []piece.Piece{figure1, figure2, beyond2, figure3, beyond3, claims, growth, weights, theorem2, theorem1,
		likeness, anyLength, networks, costs, drafts, changes, shortest, forwarding, shapes, stale, failed, added, repaired, guards, floods, loops},
	Errata: errata,
}

var errata = []piece.Erratum{{
	Where:   "Theorem 1, and its proof",
	Printed: "where the sum of p_i over 1 to m",
	Right:   "is 1; for a truncated filter, over 1 to M",
	Why:     "the 1 in (3) is that sum; the formula is right if it includes all M positions and the sum in (3) ends at m_i, see 002/theorem-1",
}, {
	Where:   "(11) to (15)",
	Printed: "(8) is approximately (15), \"which is exactly (3)\"",
	Right:   "they differ",
	Why: "(11) requires a sum far below 1, but it is ln 1/f, at least 2.3; for 200 links and f = 0.1, the same m and k " +
		"give 0.1 by (8) and 0.056 by (3), and (8) needs e ln(1/f) bits per link, 1.306 times those of a plain filter: 002/likeness",
}, {
	Where:   "V-A, α(i, f, q)",
	Printed: "by the recursive process of (18) and (19)",
	Right:   "by (16), summed from the first position on",
	Why:     "(18) and (19) hold only for probabilities of 1/(i+1)",
}, {
	Where:   "V-B, above (21)",
	Printed: "k := the sum of c_j, rounded up",
	Right:   "the sum of q_j",
	Why:     "the c_j are frequencies, whose sum is 1",
}, {
	Where:   "(21)",
	Printed: "sum to m, power nk",
	Right:   "sum to m_i, power ik, for i = 1 to n",
	Why:     "as in (16); as printed, it is one condition instead of n",
}, {
	Where:   "Algorithm 1, first line",
	Printed: "the recursive approach in Sec. V",
	Right:   "in Sec. IV-A",
	Why:     "as stated in V-C",
}, {
	Where:   "Algorithm 1, loops",
	Printed: "k = rand(m_n); for k = 0, …, jj",
	Right:   "j = rand(m_n); for k = 1, …, j",
	Why:     "k is both the random index and the loop variable, jj is undefined, and q_0 does not exist",
}, {
	Where:   "Algorithm 1, C_b = ∞",
	Printed: "the best cost starts at infinity",
	Right:   "with the cost of the initial design",
	Why:     "any first move is accepted, even one by 0.1",
}, {
	Where:   "Algorithm 1, q_k ± δ",
	Printed: "without bounds",
	Right:   "q_k stays inside (0, 1)",
	Why:     "most probabilities are below 0.1, the first δ; the result depends on how they are kept positive: 640 to 770 bits for V-B at 0.1",
}, {
	Where:   "Algorithm 1, δ > 0.0001",
	Printed: "steps of 0.1, 0.01, 0.001",
	Right:   "the optimum by the dual",
	Why: "the best probabilities for 200 links are 0.005, and all positions before or after one position move together: " +
		"728 to 745 and 670 to 766 bits, depending on the seed; the optima are 697 and 597",
}, {
	Where:   "V-D",
	Printed: "saves an average of 40%",
	Right:   "only V-B",
	Why:     "the formula is 11 % longer than the incremental filter at f = 0.1, and 47 % at 0.001: 002/claims",
}, {
	Where:   "V-D",
	Printed: "up to 50% compared to the heuristic",
	Right:   "up to 43 %",
	Why:     "even the optimum of V-B is only 42 % shorter with 200 links and 43 % with 800: 002/growth",
}}
