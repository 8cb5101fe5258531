package adaptive

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Heszberger et al. 2010.
var Paper = piece.Paper{
	Number: "002",
	Title:  "Heszberger, Tapolcai, Gulyás, Biró, Zahemszky and Ho, Adaptive Bloom Filters for Multicast Addressing, 2010",
	Note: `
A filter for headers of packets that hold few links or many: codewords are longer than
any header, with odds that fall along them, and a header has the first m_i bits if it
holds i links. The paper's figures came without numbers, so there is nothing printed beside
most of what is recomputed. umbel has its formula, its random search, and instead of that
search the exact optimum of both problems; see package inpacket/adaptive. "Search" below is
Algorithm 1, mended, in the mean over seeds. Its counterparts are modelled: the incremental
filter as planes whose sizes are best for the numbers of links, the scalable one with
P_0 = f/2 and m_0 = 128 as a slice of the first layer, or as all of it.

What comes out: the closed formula is worse than not adapting at all, where all sizes are as
frequent; the optima do what the paper says of its search, nearly; and a plain filter
whose length is free beats all of them, by a fifth there and by a third where small sets are
frequent. That is one form of umbel's headers; another, for which the links next to the tree
have to be known, is shorter by a third (002/costs).

What comes out when packets follow them, from 002/networks on: at the paper's rate most
trees have loops in dense networks; at a tenth of it packets stay on their trees, nearly.
Filters that are searched for, with the links next to the tree at hand, have no false forward
in less than half the bytes, as long as the network is the one that the sender knew.`,
	Pieces: []piece.Piece{figure1, figure2, beyond2, figure3, beyond3, claims, growth, weights, theorem2, theorem1, likeness, anyLength, networks, costs, shortest, forwarding, shapes, stale, failed, added, repaired, guards, floods, loops},
	Errata: errata,
}
