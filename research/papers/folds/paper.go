// Package folds makes the tables, figures and numbers of Sailhan and Stehr's "Folding
// and Unfolding Bloom Filters" again.
package folds

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Sailhan and Stehr 2012.
var Paper = piece.Paper{
	Number: "000",
	Title:  "Sailhan and Stehr, Folding and Unfolding Bloom Filters, IEEE iThings/GreenCom, 2012",
	Note: `
A filter of m cells folds to each divisor of m and keeps its keys. So a size with many
divisors, or a large one without large primes, can follow the number of keys: to keep a
rate of ρ ± ε, fold to a divisor in an interval. umbel's kind folding does that. Letters:
m cells, k of them set per key, n keys, ρ the rate. The paper's figures carry no numbers
that were kept, and it has no measurements.`,
	Pieces: []piece.Piece{equation1, equation6, lemma, table3, smooth, equation14, figure2, planning, oversize, face, ladder, twoFolds},
	Errata: errata,
}
