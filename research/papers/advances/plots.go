package advances

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
)

// sizes contains the sizes m of the plots, whose largest n is mostKeys.
var sizes = []uint64{64, 128, 512, 1024}

const (
	mostKeys = 1000
	limit    = 16   // j of Figure 14
	matlabE  = 2.71 // e of Figure 14
)

// realK returns the k of Figure 13, which is not a whole number.
func realK(m uint64, n float64) float64 { return float64(m) / n * math.Ln2 }

// plotted14 returns z of Figure 14.
func plotted14(m uint64, n int) float64 {
	k := math.Round(realK(m, float64(n)))
	return float64(m) * math.Pow(matlabE*float64(n)*k/limit/float64(m), limit)
}

// noneFrom returns the smallest n for which the k of Figure 14 is rounded to 0.
func noneFrom(m uint64) int {
	n := 1
	for math.Round(realK(m, float64(n))) > 0 {
		n++
	}
	return n
}

var figure13 = piece.Piece{
	Name:  "003/figure-13",
	Title: "Figure 13: rate of plain filters with the best k",
	Note: `
The plot uses k = (m/n) ln 2 without rounding, which is below 1 for large n: a filter that sets
0.04 cells per key. The curves are the resulting rate, 2^-k. Points are filters with the best
whole k.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		c := chart.Chart{Title: "Rates with the best k", X: "n", Y: "rate", LogX: true, LogY: true, Low: true}
		const least = 1e-6
		for i, m := range sizes {
			curve := chart.Series{Name: fmt.Sprintf("m = %d", m), Color: i}
			dots := chart.Series{Name: "measured, whole k", Measured: true, Color: i}
			for n := 1.0; n <= mostKeys; n *= 1.05 {
				if y := math.Exp2(-realK(m, n)); y > least {
					curve.Points = append(curve.Points, chart.Point{X: n, Y: y})
				}
			}
			for n := 4; n <= mostKeys; n *= 2 {
				k := plan.BestK(m, uint64(n))
				if (plan.Filter{M: m, K: k}).FPRate(uint64(n)) < least {
					continue
				}
				got, err := sample.Bloom(ctx, r, "003", m, k, n)
				if err != nil {
					return err
				}
				dots = got.On(dots, float64(n))
				r.Add(
					piece.Row{What: fmt.Sprintf("m=%d, n=%d: as plotted, k=%.3g", m, n, realK(m, float64(n))), Recomputed: math.Exp2(-realK(m, float64(n)))},
					piece.Row{What: fmt.Sprintf("k=%d", k), Recomputed: plan.Filter{M: m, K: k}.FPRateExact(uint64(n)), Measured: got},
				)
			}
			c.Series = append(c.Series, curve, dots)
		}
		r.Draw(c)
		return nil
	},
}

var figure14 = piece.Piece{
	Name:  "003/figure-14",
	Title: "Figure 14: a bound on overflow, labelled false positivity",
	Note: `
To show that a counting filter has fewer false positives, the report plots m (2.71 nk/(jm))^j
with j = 16 next to Figure 13. But this is a bound on the probability that a counter overflows.
The points are the mean number of counters of 16 or more, which it bounds. The curves have steps
because k is rounded; where it is rounded to 0, no filter exists and the plot shows zero. The
rate of a counting filter is that of Figure 13.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		c := chart.Chart{Title: "Overflow of counters of four bits", X: "n", Y: "bound on counters of 16 or more", LogX: true, LogY: true}
		for i, m := range sizes {
			curve := chart.Series{Name: fmt.Sprintf("m = %d", m), Color: i}
			dots := chart.Series{Name: "mean number", Measured: true, Color: i}
			for n := 2; n < min(mostKeys, noneFrom(m)); n += 1 + n/25 {
				curve.Points = append(curve.Points, chart.Point{X: float64(n), Y: plotted14(m, n)})
			}
			for n := 4; n < min(mostKeys, noneFrom(m)); n *= 2 {
				k := int(math.Round(realK(m, float64(n))))
				mean := counting.Shape{M: m, K: k}.Overflow(uint64(n), limit)
				dots.Points = append(dots.Points, chart.Point{X: float64(n), Y: mean})
				if n != int(m/8) {
					continue
				}
				r.Add(
					piece.Row{What: fmt.Sprintf("m=%d, n=%d, k=%d: as plotted", m, n, k), Recomputed: plotted14(m, n)},
					piece.Row{What: "with e instead of 2.71", Recomputed: counting.Shape{M: m, K: k}.OverflowBound(uint64(n), limit)},
					piece.Row{What: "mean number of counters of 16 or more", Recomputed: mean},
					piece.Row{What: "false-positive rate", Recomputed: plan.Filter{M: m, K: k}.FPRateExact(uint64(n))},
					piece.Row{What: "n from which k is rounded to 0", Recomputed: float64(noneFrom(m))},
				)
			}
			c.Series = append(c.Series, curve, dots)
		}
		r.Draw(c)
		return nil
	},
}
