// Package adaptive designs filters that are cut to the length their content needs:
// Heszberger, Tapolcai, Gulyás, Biró, Zahemszky and Ho 2010, "Adaptive Bloom filters
// for multicast addressing". A codeword has many positions, whose odds to be set fall
// along it; a header carries the OR of the codewords of its links, cut to the first
// m_i positions when there are i of them, so that a link that isn't there matches with
// at most a given rate, whatever i is.
//
// A [Design] is what senders and routers have to agree on: the odds and the lengths,
// all of them whole numbers. There are three ways to one:
//
//   - [Heuristic], the paper's formula, in an instant and far too long;
//   - [Greedy], its random search from there;
//   - [Optimum], which solves both of its problems exactly. Take this one.
//
// The last two want to know how often there are how many links: [Weights]. An optimum
// for sets of all sizes alike sends 240 bits for a single link.
//
// A [Sampler] draws the codewords of links from the streams of their
// [inpacket.Codeword], for headers of the form [inpacket.Dense].
//
// The file baselines.go has what the paper compares with, and what is shorter: a plain
// filter whose length is free beats every design of this kind, by a fifth where all
// sizes are alike and by a third where small sets are frequent.
package adaptive
