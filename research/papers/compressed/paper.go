// Package compressed makes the tables, figures and simulations of Mitzenmacher's
// "Compressed Bloom Filters" again.
package compressed

import (
	"slices"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// keys is n in all of the paper's simulations, and here in all that is measured.
const keys = 10_000

// Paper is Mitzenmacher 2002.
var Paper = piece.Paper{
	Number: "004",
	Title:  "Mitzenmacher, Compressed Bloom Filters, IEEE/ACM Transactions on Networking 10(5), 2002",
	Note: `
A filter that is sent is best not half full: a larger, sparser one compresses to fewer
bits at the same rate. m/n are the cells per key in memory, z/n the bits per key on the
wire, k the cells set per key, f the rate of false positives. Formulas: p = e^(-kn/m),
z = m H(p), f = (1-p)^k.`,
	Pieces: slices.Concat(tables, deltaTables, figures, []piece.Piece{claims, simulation, theorem1, deltaSimulation, deltaSparse, counters}),
	Errata: errata,
}
