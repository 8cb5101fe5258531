package compressed

import (
	"context"
	"math"

	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// theorem1 compares the appendix's bound with what happens.
var theorem1 = piece.Piece{
	Name:  "004/theorem-1",
	Title: "Theorem 1: how far the number of zeros is from its mean",
	Note: `
Pr[|X - mp| > εm] < 2 exp(-ε²m²/(2nk)) holds, and is far off: Azuma's inequality lets each
hash change the count by one, as if all hit cells of their own, and takes no notice of the
variance, which is m(p - p²(1+kn/m)). The normal curve has that variance. So the theorem
shows that sizes concentrate, and isn't for choosing packets; see the standard deviation
in 004/simulations. m=140000, k=2, n=10^4.`,
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
	bound, curve, dots := chart.Series{Name: "Theorem 1"}, chart.Series{Name: "normal, true variance", Colour: 1},
		chart.Series{Name: "measured", Measured: true, Colour: 1}
	n := float64(got.Trials)
	const least = 1e-9 // that is drawn
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
		piece.Row{What: "standard deviations to there", Recomputed: off / sd},
	)
	return nil
}

// share is a row of a probability and how often that happened.
func share(what string, p, measured float64, trials int) piece.Row {
	return piece.Row{What: what, Recomputed: p, Measured: piece.Measure{
		Value: measured, Error: math.Sqrt(p * (1 - p) / float64(trials)), Trials: trials,
	}}
}

// onesFor returns the number of ones, below half, with which a Laplace code of m bits
// takes so many.
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
