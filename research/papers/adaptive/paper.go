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
(package inpacket/adaptive); "search" is Algorithm 1, corrected, averaged over seeds. The other
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
	Pieces: []piece.Piece{figure1, figure2, beyond2, figure3, beyond3, claims, growth, weights, theorem2, theorem1, likeness, anyLength, networks, costs, shortest, forwarding, shapes, stale, failed, added, repaired, guards, floods, loops},
	Errata: errata,
}
