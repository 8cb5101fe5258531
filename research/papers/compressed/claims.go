package compressed

import (
	"context"
	"math"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

const asSaid = "as said"

// claims are the numbers of the paper's text that have no table.
var claims = piece.Piece{
	Name:  "004/claims",
	Title: "Numbers in the text",
	Note: `
What the paper says in words stands in the first column in quotes, with the number behind it.`,
	Make: func(_ context.Context, r *piece.Run) error {
		fewer := func(a, b float64) float64 { return 100 * (1 - a/b) }
		rate := func(perKey, k float64) float64 { return design{perKey, k}.rate() }
		bits := func(perKey, k float64) float64 { return design{perKey, k}.bits() }
		said := func(what string, is float64) { r.Add(piece.Row{What: what, Recomputed: is, Mark: asSaid}) }

		r.Add(
			piece.Row{What: "II-A: f of the best k is this, to the power m/n", Printed: "0.6185", Recomputed: math.Exp2(-math.Ln2)},
			piece.Row{What: "III-A: f, m/n=8, k=5", Printed: "0.0217", Recomputed: rate(8, 5)},
			piece.Row{What: "f, m/n=16, k=6", Printed: "0.000935", Recomputed: rate(16, 6)},
		)
		said("\"more than doubles f\": m/n=16, from k=11 to 6, times", rate(16, 6)/rate(16, 11))
		said("II-B: \"roughly 30%\" of the size saved at the same f as k goes to 0, %", fewer(math.Ln2, 1))
		said("III-A: f falls \"by almost 20%\" with z/n=8, m/n=14, %", fewer(rate(14, 2), rate(8, 6)))
		said("f falls \"about 30%\" with m/n=28, %", fewer(rate(28, 4), rate(16, 11)))
		said("f falls \"over 50%\" with m/n=48, %", fewer(rate(48, 3), rate(16, 11)))
		said("Tables IV and V: size \"decreases in the range of roughly 5%-15%\", least, %", fewer(bits(12.6, 2), 8))
		said("most, %", max(fewer(bits(46, 1), 8), fewer(bits(93, 2), 16)))
		said("IV: \"lowers f by a factor of six\" from m/n=8 to 32", rate(8, 5)/rate(32, 2))
		said("\"a reduction of over 20%\" from m/n=8 to 13, c=0.05, %",
			fewer(design{13, 2}.deltaBits(0.05), design{8, 5}.deltaBits(0.05)))

		limit := func(z, nearly float64) float64 { // β, at a p that is nearly 1
			return math.Exp(-math.Log(nearly) * math.Log1p(-nearly) / z)
		}
		const nearly = 1 - 1e-9
		r.Add(
			piece.Row{What: "II-B: β as p goes to 1: 1/2, slowly; at p = 1-10^-9", Recomputed: limit(binaryEntropy(nearly), nearly)},
			piece.Row{What: "IV: β to the power 2c as p goes to 1: 1/2, slowly; c=0.05, p = 1-10^-9",
				Recomputed: math.Pow(limit(binaryEntropy(2*nearly*(1-math.Pow(nearly, 0.05))), nearly), 0.1)},
			piece.Row{What: "the same of deltas given the old bits, to the power c",
				Recomputed: math.Pow(limit(design{-1 / math.Log(nearly), 1}.contextBits(0.05)*-math.Log(nearly), nearly), 0.05)},
		)
		return nil
	},
}
