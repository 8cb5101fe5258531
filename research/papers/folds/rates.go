package folds

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
)

// printedRate returns the right side of equations (1) and (4) as printed, which is the
// fill ratio and not the rate.
func printedRate(perKey, k float64) float64 { return -math.Expm1(-k / perKey) }

// equation1 compares equations (1) and (4) with measured rates.
var equation1 = piece.Piece{
	Name:  "000/equation-1",
	Title: "Equations (1) and (4): the rate",
	Note: `
Printed is ρ = (1-(1-1/m)^(kn))^k ≈ 1-e^(-kn/m): the right side lacks the power k, so it is the
fill ratio. Equation (4) also has m instead of the folded size. n = 1000.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		const n = 1000
		for _, c := range []struct {
			perKey float64
			k      int
		}{{8, 5}, {8, 6}, {10, 7}, {16, 11}, {14, 2}} {
			m := uint64(c.perKey * n)
			got, err := sample.Bloom(ctx, r, "000", m, c.k, n)
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("m/n=%g, k=%d: right side as printed", c.perKey, c.k), Recomputed: printedRate(c.perKey, float64(c.k)), Mark: piece.Wrong},
				piece.Row{What: "left side", Recomputed: plan.FPRateAtFill(plan.Filter{M: m, K: c.k}.Fill(n), c.k)},
				piece.Row{What: "exact", Recomputed: plan.Filter{M: m, K: c.k}.FPRateExact(n), Measured: got},
			)
		}
		return nil
	},
}

// printedEnd returns an end of equation (14) as printed; rho is ρ+ε or ρ-ε.
func printedEnd(n, k int, rho, eps float64) float64 {
	return 1 / (1 - math.Pow(1-eps/rho, 1/float64(k*n)))
}

// bands are our intervals of rates. The paper has none.
var bands = []struct {
	n, k     int
	rho, eps float64
}{
	{1000, 2, 0.02, 0.005}, {1000, 4, 0.01, 0.002}, {1000, 7, 0.01, 0.001}, {10_000, 2, 0.02, 0.005},
	{10_000, 4, 0.02, 0.002}, {10_000, 7, 0.01, 0.001}, {100, 2, 0.1, 0.05}, {200, 3, 0.1, 0.02},
}

// equation14 measures filters whose sizes are the ends of equation (14).
var equation14 = piece.Piece{
	Name:  "000/equation-14",
	Title: "Equation (14): sizes with a rate of ρ ± ε",
	Note: `
Printed is 1/(1-(1-ε/(ρ±ε))^(1/(kn))); right is 1/(1-(1-(ρ±ε)^(1/k))^(1/(kn))), rounded up at
the lower end and down at the upper. As printed, the lower end is above the upper end. The rates
at both ends were measured; they agree with the exact formula, which differs from ρ ± ε in small
filters.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, b := range bands {
			low, high, err := plan.Interval{K: b.k, FPRate: b.rho, Eps: b.eps}.Sizes(uint64(b.n))
			if err != nil {
				return err
			}
			for _, end := range []struct {
				name, short string
				m           uint64
				rho         float64
			}{
				{fmt.Sprintf("n=%d, k=%d, ρ=%g±%g: least m", b.n, b.k, b.rho, b.eps), "as printed", low, b.rho + b.eps},
				{"largest m", "as printed", high, b.rho - b.eps},
			} {
				got, err := sample.Bloom(ctx, r, "000", end.m, b.k, b.n)
				if err != nil {
					return err
				}
				r.Add(
					piece.Row{What: end.name, Recomputed: float64(end.m)},
					piece.Row{What: end.short, Recomputed: printedEnd(b.n, b.k, end.rho, b.eps), Mark: piece.Wrong},
					piece.Row{What: fmt.Sprintf("rate for ρ = %.3g", end.rho), Recomputed: plan.Filter{M: end.m, K: b.k}.FPRateExact(uint64(b.n)), Measured: got},
				)
			}
		}
		return nil
	},
}

var figure2 = piece.Piece{
	Name:  "000/figure-2",
	Title: "Figure 2: size over rate, k = 2",
	Note: `
The n of the paper's curves isn't known. Points are filters with the sizes of the formula, at
their measured rates. The second row of each group counts the sizes without prime factors above
7 whose rate is within a tenth of ρ.`,
	Make: makeFigure2,
}

func makeFigure2(ctx context.Context, r *piece.Run) error {
	const k = 2
	c := chart.Chart{Title: "Sizes with k = 2", X: "ρ", Y: "m", LogX: true, LogY: true, Left: true, Low: true}
	for i, n := range []int{10_000, 1000, 100, 10} {
		curve := chart.Series{Name: fmt.Sprintf("n = %d", n), Color: i}
		for rho := 0.01; rho < 0.4; rho *= 1.1 {
			m, err := plan.SizeForK(uint64(n), k, rho)
			if err != nil {
				return err
			}
			curve.Points = append(curve.Points, chart.Point{X: rho, Y: float64(m)})
		}
		dots := chart.Series{Name: "measured", Measured: true, Color: i}
		for _, rho := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} {
			m, err := plan.SizeForK(uint64(n), k, rho)
			if err != nil {
				return err
			}
			got, err := sample.Bloom(ctx, r, "000", m, k, n)
			if err != nil {
				return err
			}
			low, high, err := plan.Interval{K: k, FPRate: rho, Eps: rho / 10}.Sizes(uint64(n))
			if err != nil {
				return err
			}
			dots.Points = append(dots.Points, chart.Point{X: got.Value, Y: float64(m)})
			r.Add(
				piece.Row{What: fmt.Sprintf("n=%d, ρ=%g: m", n, rho), Recomputed: float64(m)},
				piece.Row{What: fmt.Sprintf("7-smooth sizes from %d to %d", low, high), Recomputed: float64(len(smoothNumbers(low, high, 7)))},
				piece.Row{What: "rate", Recomputed: plan.Filter{M: m, K: k}.FPRateExact(uint64(n)), Measured: got},
			)
		}
		c.Series = append(c.Series, curve, dots)
	}
	r.Draw(c)
	return nil
}
