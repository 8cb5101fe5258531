package compressed

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// largest is the largest m/n that is measured in a figure: a filter of 10^4 keys then
// has a few hundred kilobytes.
const largest = 250

const figureNote = `
For each k, the largest filter that an ideal code compresses to z/n = 8 bits per key, and the
standard filter of m/n = 8. Both curves meet at k = 8 ln 2, which is best for the standard
filter and worst for the compressed one. As k goes to 0, f goes to 2^-8 = 0.003906. The paper's
curves have no numbers. Points were measured with filters of 10^4 keys and at most 250 cells per
key.`

var figures = []piece.Piece{
	figure("004/figure-1", "Figure 1: rate over k at z/n = 8", figureNote, 8, 12),
	figure("004/figure-2", "Figure 2: rate over k at z/n = 16", "As Figure 1, with z/n = 16. As k goes to 0, f goes to 2^-16 = 1.526e-05.", 16, 16),
}

// figure returns the piece of a figure, with curves up to k = last.
func figure(name, title, note string, z float64, last int) piece.Piece {
	return piece.Piece{
		Name: name, Title: title, Note: note,
		Make: func(ctx context.Context, r *piece.Run) error { return makeFigure(ctx, r, title, z, last) },
	}
}

func makeFigure(ctx context.Context, r *piece.Run, title string, z float64, last int) error {
	compressed := chart.Series{Name: "compressed"}
	standard := chart.Series{Name: "standard", Color: 1}
	for k := 0.25; k <= float64(last); k += 0.125 {
		compressed.Points = append(compressed.Points, chart.Point{X: k, Y: compressedTo(z, k).rate()})
		standard.Points = append(standard.Points, chart.Point{X: k, Y: design{z, k}.rate()})
	}
	dots := chart.Series{Name: "compressed, measured", Measured: true}
	standardDots := chart.Series{Name: "standard, measured", Measured: true, Color: 1}
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

// simulatePoint makes a tenth of the trials of a table, since figures have many points.
func simulatePoint(ctx context.Context, r *piece.Run, d design) (trial.Result, error) {
	sim := filters(d)
	sim.Name += " point"
	return r.Simulate(ctx, sim, max(5, r.Trials/10))
}

// theorem1 compares the bound of the appendix with measurements.
var theorem1 = piece.Piece{
	Name:  "004/theorem-1",
	Title: "Theorem 1: how far the number of zeros is from its mean",
	Note: `
Pr[|X - mp| > εm] < 2 exp(-ε²m²/(2nk)) holds but is loose: Azuma's inequality assumes that each
hash may change the count by one, and ignores the variance, which is m(p - p²(1+kn/m)). The
normal curve has that variance. The theorem shows that sizes concentrate; to choose a packet
size, use the standard deviation in 004/simulations. m=140000, k=2, n=10^4.`,
	Make: makeTheorem1,
}

func makeTheorem1(ctx context.Context, r *piece.Run) error {
	d := design{14, 2}
	got, err := r.Simulate(ctx, filters(d), r.Trials)
	if err != nil {
		return err
	}
	m, t := float64(d.cells(keys)), d.k*keys
	mean, sd := m*d.zeros(), math.Sqrt(onesVariance(m, t))
	azuma := func(off float64) float64 { return min(1, 2*math.Exp(-off*off/2/t)) }
	normal := func(off float64) float64 { return math.Erfc(off / sd / math.Sqrt2) }
	measured := func(off float64) float64 {
		return got.Of(ones).Share(func(x int64) bool { return math.Abs(m-float64(x)-mean) > off })
	}
	bound, curve, dots := chart.Series{Name: "Theorem 1"}, chart.Series{Name: "normal, true variance", Color: 1},
		chart.Series{Name: "measured", Measured: true, Color: 1}
	n := float64(got.Trials)
	const least = 1e-9 // smallest y that is drawn
	for off := 10.0; azuma(off) > least; off += 10 {
		bound.Points = append(bound.Points, chart.Point{X: off / m, Y: azuma(off)})
		if y := normal(off); y > least {
			curve.Points = append(curve.Points, chart.Point{X: off / m, Y: y})
		}
		if s := measured(off); s > 0 {
			dots.Points = append(dots.Points, chart.Point{X: off / m, Y: s, Error: min(s/2, math.Sqrt(s*(1-s)/n))})
		}
	}
	r.Draw(chart.Chart{
		Title: "Zeros of a filter of 140 000 cells, 10 000 keys, k=2", X: "ε", Y: "Pr[|X - mp| > εm]", LogY: true,
		Series: []chart.Series{bound, curve, dots},
	})
	r.Add(
		piece.Row{What: "standard deviation of X", Recomputed: sd, Measured: spread(got.Of(ones))},
		share("share beyond one standard deviation: normal", normal(sd), measured(sd), got.Trials),
		share("share beyond three: normal", normal(3*sd), measured(3*sd), got.Trials),
		piece.Row{What: "share beyond three: Theorem 1", Recomputed: azuma(3 * sd)},
	)
	most := onesFor(m, 10_000*8) // ones of a filter of 10 000 bytes
	off := mean - (m - most)
	r.Add(
		piece.Row{What: "share above 10000 bytes: Theorem 1", Recomputed: azuma(off),
			Measured: piece.Measure{Value: got.Of(coded).Share(func(v int64) bool { return v > 10_000 }), Trials: got.Trials}},
		piece.Row{What: "standard deviations from the mean to 10000 bytes", Recomputed: off / sd},
	)
	return nil
}

// share returns a row with a probability and the measured share.
func share(what string, p, measured float64, trials int) piece.Row {
	return piece.Row{What: what, Recomputed: p, Measured: piece.Measure{
		Value: measured, Error: math.Sqrt(p * (1 - p) / float64(trials)), Trials: trials,
	}}
}

// onesFor returns the number of ones, at most m/2, for which a Laplace code of m bits has
// the given length in bits.
func onesFor(m, bits float64) float64 {
	low, high := 0.0, m/2
	for range 100 {
		if mid := (low + high) / 2; laplaceBits(m, mid) < bits {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
