// Package scaled makes the numbers of Almeida, Baquero, Preguiça and Hutchison's
// "Scalable Bloom Filters" again.
package scaled

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Almeida et al. 2007.
var Paper = piece.Paper{
	Number: "001",
	Title:  "Almeida, Baquero, Preguiça and Hutchison, Scalable Bloom Filters, Information Processing Letters 101, 2007",
	Note: `
A filter that grows: a row of partitioned filters, each s times as large as the one before
and allowed r times its rate, so that all together stay below P_0/(1-r). What is recomputed
here is of a summary of the paper by its readers, which has formulas and no tables; what is
wrong below may be so in the summary alone. The first layer's rate is P_0 = f(1-r) for a rate
of f however long the row.`,
	Pieces: []piece.Piece{small, layers, growth, cost},
	Errata: errata,
}

var errata = []piece.Erratum{{
	Where:   "False positives",
	Printed: "one slice: P = p",
	Right:   "P = p for k = 1 alone",
	Why:     "a single array asked k times has about p^k: with 64 cells, 8 keys, k=4 the fill is 0.396 and the rate 0.02535, see 001/small",
}, {
	Where:   "False positives",
	Printed: "k slices: P = p^k if m is reasonably large",
	Right:   "for every m, in the mean",
	Why:     "slices don't touch each other: with 64 cells, 8 keys, k=4 it is 0.026450; the single array needs the words, p^k there is 0.024556 for 0.025354",
}, {
	Where:   "Scalable filters, k_i",
	Printed: "for slices i > 1, k_i = k_0 + i log2(1/r)",
	Right:   "from layer 1 on, rounded up; k_0 too",
	Why:     "P_0 = 0.005 gives k_0 = 7.64: with 8 slices of 1000 cells a layer holds 724 keys, with 7 it would 632",
}, {
	Where:   "Internals",
	Printed: "indices 1 to M",
	Right:   "0 to M-1",
	Why:     "there is no cell M",
}, {
	Where:   "Internals",
	Printed: "pairwise independent hash functions",
	Right:   "the formula wants k independent positions",
	Why:     "h1 + i·h2 mod m are pairwise independent over i; a key that agrees with another in h1 and h2 agrees in all k, so n/m² of the questions are wrong however large k is",
}}
