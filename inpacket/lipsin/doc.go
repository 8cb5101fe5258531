// Package lipsin makes the filters of LIPSIN (Jokela et al. 2009): of each link d
// codewords of m bits, k of them set, and of each tree the best of d filters.
//
// A [Design] says how many of each. It gives each [Link] its codewords, and
// [Design.Choose] makes the d filters of a tree and chooses, once by the rate of
// false positives that the ones let expect and once by the links known next to the
// tree. Routers hold the codewords of their links in an inpacket.DenseTable.
package lipsin
