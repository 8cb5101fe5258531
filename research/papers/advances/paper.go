// Package advances makes the numbers, plots and program of Verma's report "Bloom Filter
// Advancements" again, and those of the weighted filter of Bruck, Gao and Jiang that it
// takes over.
package advances

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Verma 2015.
var Paper = piece.Paper{
	Number: "003",
	Title:  "Verma, Bloom Filter Advancements, project report, Jaypee University of Information Technology, 2015",
	Note: `
A report on filters that count and filters that weigh, with a program in Java whose screens
it shows, and plots. Letters: m cells, k of them set per key, n keys; in weighted filters k_e
cells for key e, which is in the set with probability x_e and has the share r_e of the questions
about keys that aren't.`,
	Pieces: []piece.Piece{program, hashChain, deletion, algebra, estimates, overflow, figure13, figure14, weights, zipfFigure},
	Errata: errata,
}
