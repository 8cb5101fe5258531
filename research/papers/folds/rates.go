package folds

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
)

// printedRate is the end of equations (1) and (4) as printed: the fill, and not the
// rate.
func printedRate(perKey, k float64) float64 { return -math.Expm1(-k / perKey) }

// equation1 compares equations (1) and (4) with what filters do.
var equation1 = piece.Piece{
	Name:  "000/equation-1",
	Title: "Equations (1) and (4): the rate",
	Note: `
Printed is ρ = (1-(1-1/m)^(kn))^k ≈ 1-e^(-kn/m): the right side lacks the power k, so it is
the fill. Equation (4) has m in place of the folded size besides. n = 1000.`,
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
				piece.Row{What: "left side", Recomputed: plan.FPRate(m, c.k, n)},
				piece.Row{What: "exact", Recomputed: plan.FPRateExact(m, c.k, n), Measured: got},
			)
		}
		return nil
	},
}

// printedEnd is an end of equation (14) as printed, for ρ+ε or ρ-ε.
func printedEnd(n, k int, rho, eps float64) float64 {
	return 1 / (1 - math.Pow(1-eps/rho, 1/float64(k*n)))
}

// bands are the intervals of rates that are planned for here. The paper has none.
var bands = []struct {
	n, k     int
	rho, eps float64
}{
	{1000, 2, 0.02, 0.005}, {1000, 4, 0.01, 0.002}, {1000, 7, 0.01, 0.001}, {10_000, 2, 0.02, 0.005},
	{10_000, 4, 0.02, 0.002}, {10_000, 7, 0.01, 0.001}, {100, 2, 0.1, 0.05}, {200, 3, 0.1, 0.02},
}

// equation14 compares equation (14) with filters of the sizes at both ends.
var equation14 = piece.Piece{
	Name:  "000/equation-14",
	Title: "Equation (14): sizes with a rate of ρ ± ε",
	Note: `
Printed is 1/(1-(1-ε/(ρ±ε))^(1/(kn))); right is 1/(1-(1-(ρ±ε)^(1/k))^(1/(kn))), rounded up at the
lower end and down at the upper. As printed the lower end is above the upper one. Rates were
measured at both ends; they are those of the exact formula, which differs from ρ ± ε where
filters are small.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, b := range bands {
			low, high, err := plan.SizeInterval(uint64(b.n), b.k, b.rho, b.eps)
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
					piece.Row{What: fmt.Sprintf("rate, wanted %.3g", end.rho), Recomputed: plan.FPRateExact(end.m, b.k, uint64(b.n)), Measured: got},
				)
			}
		}
		return nil
	},
}
