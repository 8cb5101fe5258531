package compressed

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/papers/internal/chart"
	"github.com/umbel-filters/umbel/papers/internal/piece"
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
	measured := chart.Series{Name: "compressed, measured", Measured: true}
	measuredStandard := chart.Series{Name: "standard, measured", Measured: true, Colour: 1}
	for k := 1; k <= last; k++ {
		d := compressedTo(z, float64(k))
		row := piece.Row{What: fmt.Sprintf("k=%d, m/n=%.6g: f", k, d.perKey), Recomputed: d.rate()}
		if d.perKey <= largest {
			got, err := r.Simulate(ctx, filters(d), max(20, r.Trials/10))
			if err != nil {
				return err
			}
			row.Measured = rateOf(got)
			r.Add(row, piece.Row{What: "bytes at n=10^4", Recomputed: z * keys / 8, Measured: mean(got.Of(coded)), Unit: "bytes"})
			measured.Points = append(measured.Points, point(k, row.Measured))
		} else {
			r.Add(row)
		}
		got, err := r.Simulate(ctx, filters(design{z, float64(k)}), max(20, r.Trials/10))
		if err != nil {
			return err
		}
		measuredStandard.Points = append(measuredStandard.Points, point(k, rateOf(got)))
	}
	r.Draw(chart.Chart{
		Title: title, X: "k", Y: "f", LogY: true,
		Series: []chart.Series{compressed, measured, standard, measuredStandard},
	})
	return nil
}

// point is a measured rate on a logarithmic scale, where a bar may not reach zero.
func point(k int, m piece.Measure) chart.Point {
	return chart.Point{X: float64(k), Y: m.Value, Error: min(m.Error, m.Value/2)}
}
