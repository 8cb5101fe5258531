package compressed

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// largest is the m/n up to which the points of a figure are measured: a filter of
// 10^4 keys is then a few hundred kilobytes.
const largest = 250

var figures = []piece.Piece{
	figure("004/figure-1", "Figure 1: rate over k at z/n = 8", 8, 12),
	figure("004/figure-2", "Figure 2: rate over k at z/n = 16", 16, 16),
}

// figure is the piece of a figure, with curves up to k = last.
func figure(name, title string, z float64, last int) piece.Piece {
	return piece.Piece{
		Name: name, Title: title, Note: fmt.Sprintf(`
For each k, the largest filter that an ideal code compresses to z/n = %[1]g bits per key, and
the standard filter of m/n = %[1]g. The best k of one is the worst of the other: both curves
meet at k = %[1]g ln 2. The paper's curves carry no numbers; here the points are measured, with
filters of 10^4 keys, where a filter has at most %[2]d cells per key. As k goes to 0, f goes to
2^-%[1]g = %.4[3]g.`, z, largest, math.Exp2(-z)),
		Make: func(ctx context.Context, r *piece.Run) error { return makeFigure(ctx, r, title, z, last) },
	}
}

func makeFigure(ctx context.Context, r *piece.Run, title string, z float64, last int) error {
	compressed := chart.Series{Name: "compressed"}
	standard := chart.Series{Name: "standard", Colour: 1}
	for k := 0.25; k <= float64(last); k += 0.125 {
		compressed.Points = append(compressed.Points, chart.Point{X: k, Y: compressedTo(z, k).rate()})
		standard.Points = append(standard.Points, chart.Point{X: k, Y: design{z, k}.rate()})
	}
	dots := chart.Series{Name: "compressed, measured", Measured: true}
	standardDots := chart.Series{Name: "standard, measured", Measured: true, Colour: 1}
	for k := 1; k <= last; k++ {
		d := compressedTo(z, float64(k))
		row := piece.Row{What: fmt.Sprintf("k=%d, m/n=%.6g: f", k, d.perKey), Recomputed: d.rate()}
		if d.perKey > largest {
			r.Add(row)
		} else {
			got, err := simulatePoint(ctx, r, d)
			if err != nil {
				return err
			}
			row.Measured = rateOf(got)
			dots = row.Measured.On(dots, float64(k))
			r.Add(row, piece.Row{What: "bytes at n=10^4", Recomputed: z * keys / 8, Measured: piece.Mean(got.Of(coded)), Unit: "bytes"})
		}
		got, err := simulatePoint(ctx, r, design{z, float64(k)})
		if err != nil {
			return err
		}
		standardDots = rateOf(got).On(standardDots, float64(k))
	}
	r.Draw(chart.Chart{
		Title: title, X: "k", Y: "f", LogY: true,
		Series: []chart.Series{compressed, dots, standard, standardDots},
	})
	return nil
}

// simulatePoint makes a tenth of the trials that a table has: there are many points.
func simulatePoint(ctx context.Context, r *piece.Run, d design) (trial.Result, error) {
	sim := filters(d)
	sim.Name += " point"
	return r.Simulate(ctx, sim, max(5, r.Trials/10))
}
