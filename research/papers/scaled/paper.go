// Package scaled recomputes the numbers of Almeida, Baquero, Preguiça and Hutchison's
// "Scalable Bloom Filters".
package scaled

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Almeida et al. 2007.
var Paper = piece.Paper{
	Number: "001",
	Title:  "Almeida, Baquero, Preguiça and Hutchison, Scalable Bloom Filters, Information Processing Letters 101, 2007",
	Note: `
A growing filter consists of partitioned filters, its layers. Each layer is s times as large as
the previous one and has r times its rate, so the compound rate stays below P_0/(1-r). For a
rate of f with any number of layers, the first layer has the rate P_0 = f(1-r). The source here
is a summary of the paper by its readers, which has formulas but no tables; the errata may be
errors of the summary only.`,
	Pieces: []piece.Piece{small, layers, growth, cost},
	Errata: errata,
}

var errata = []piece.Erratum{{
	Where:   "False positives",
	Printed: "one slice: P = p",
	Right:   "P = p only for k = 1",
	Why:     "a single array with k cells per key has about p^k: with 64 cells, 8 keys and k=4, the fill ratio is 0.396 and the rate 0.02535, see 001/small",
}, {
	Where:   "False positives",
	Printed: "k slices: P = p^k if m is reasonably large",
	Right:   "for every m, on average",
	Why: "slices are independent: with 64 cells, 8 keys and k=4, the rate is 0.026450; the condition is needed for a " +
		"single array, where p^k is 0.024556 and the rate 0.025354",
}, {
	Where:   "Scalable filters, k_i",
	Printed: "for slices i > 1, k_i = k_0 + i log2(1/r)",
	Right:   "from layer 1 on, rounded up; k_0 too",
	Why:     "P_0 = 0.005 gives k_0 = 7.64: with 8 slices of 1000 cells, a layer has a capacity of 724 keys; with 7 slices, 632",
}, {
	Where:   "Internals",
	Printed: "indices 1 to M",
	Right:   "0 to M-1",
	Why:     "there is no cell M",
}, {
	Where:   "Internals",
	Printed: "pairwise independent hash functions",
	Right:   "the formula requires k independent positions",
	Why: "h1 + i·h2 mod m are pairwise independent over i, but keys with equal h1 and h2 have all k positions in " +
		"common, so n/m² of the queries are false positives for any k",
}}
