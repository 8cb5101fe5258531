package folds

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
)

var figure2 = piece.Piece{
	Name:  "000/figure-2",
	Title: "Figure 2: size over rate, k = 2",
	Note: `
Which n the paper's curves have isn't known. Points are filters of the sizes that the
formula gives, at the rates that they were measured to have. Beside the size stands how many
sizes there are to choose from within a tenth of ρ: numbers without primes above 7.`,
	Make: makeFigure2,
}

func makeFigure2(ctx context.Context, r *piece.Run) error {
	const k = 2
	c := chart.Chart{Title: "Sizes with k = 2", X: "ρ", Y: "m", LogX: true, LogY: true, Left: true, Low: true}
	for i, n := range []int{10_000, 1000, 100, 10} {
		curve := chart.Series{Name: fmt.Sprintf("n = %d", n), Colour: i}
		for rho := 0.01; rho < 0.4; rho *= 1.1 {
			m, err := plan.SizeForK(uint64(n), k, rho)
			if err != nil {
				return err
			}
			curve.Points = append(curve.Points, chart.Point{X: rho, Y: float64(m)})
		}
		dots := chart.Series{Name: "measured", Measured: true, Colour: i}
		for _, rho := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} {
			m, err := plan.SizeForK(uint64(n), k, rho)
			if err != nil {
				return err
			}
			got, err := sample.Bloom(ctx, r, "000", m, k, n)
			if err != nil {
				return err
			}
			low, high, err := plan.SizeInterval(uint64(n), k, rho, rho/10)
			if err != nil {
				return err
			}
			dots.Points = append(dots.Points, chart.Point{X: got.Value, Y: float64(m)})
			r.Add(
				piece.Row{What: fmt.Sprintf("n=%d, ρ=%g: m", n, rho), Recomputed: float64(m)},
				piece.Row{What: fmt.Sprintf("7-smooth sizes from %d to %d", low, high), Recomputed: float64(len(smoothNumbers(low, high, 7)))},
				piece.Row{What: "rate", Recomputed: plan.FPRateExact(m, k, uint64(n)), Measured: got},
			)
		}
		c.Series = append(c.Series, curve, dots)
	}
	r.Draw(c)
	return nil
}
