package advances

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var weights = piece.Piece{
	Name:  "003/weighted",
	Title: "Chapter 4: weighted filters",
	Note: `
10^4 keys, 1000 of them in the filter. *As printed* is E{P_FP} = 2^(-(m/n) ln 2) N ∏
E{r_e}^(x_e/n) for k_e = (m/n) ln 2 + log2 r_e - Σ (x_i/n) log2 r_i. That is the lowest rate
only if all x_e are equal; in general, it is k_e = c + log2(r_e/x_e). A filter needs whole k:
the table has the best ones for classes of half a bit of r_e/x_e, and the rate of umbel's
weighted filter with these, which is the number of false positives divided by the mean number of
queries for absent keys. Filters contain different numbers of keys with a large k; the formula
ignores this, which is 0.7 % of the rate for unequal x_e (4000 trials).`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, w := range workloads {
			if err := w.add(ctx, r); err != nil {
				return err
			}
		}
		return nil
	},
}

func (w workload) add(ctx context.Context, r *piece.Run) error {
	ks, least, err := weighted.OptimalK(w.m(), w.keys())
	if err != nil {
		return err
	}
	shape, err := w.shape()
	if err != nil {
		return err
	}
	fewest, most := shape.Classes[0].K, shape.Classes[0].K
	for _, c := range shape.Classes {
		fewest, most = min(fewest, c.K), max(most, c.K)
	}
	got, err := r.Simulate(ctx, w.simulation(shape), max(5, r.Trials/5))
	if err != nil {
		return err
	}
	k := plan.BestK(w.m(), members)
	plain := plan.Filter{M: w.m(), K: k}.FPRate(members)
	whole := shape.Forecast(members).FPRate
	r.Add(
		piece.Row{What: fmt.Sprintf("%s, m/n=%d: plain filter, k=%d", w.name, w.perKey, k), Recomputed: plain},
		piece.Row{What: "as printed", Recomputed: w.printed()},
		piece.Row{What: fmt.Sprintf("least, real k from %.3g to %.3g", slices.Min(ks), slices.Max(ks)), Recomputed: least},
		piece.Row{What: fmt.Sprintf("least, whole k from %d to %d, classes: %d", fewest, most, len(shape.Classes)),
			Recomputed: whole, Measured: piece.Scaled(got.Of(rate), 1e-9)},
		piece.Row{What: "relative to the plain filter", Recomputed: whole / plain},
	)
	return nil
}

var zipfFigure = piece.Piece{
	Name:  "003/zipf",
	Title: "The gain from weights for uneven queries",
	Note: `
Not in the report: queries by Zipf's law with an exponent from 0, where all keys are equally
frequent, to 1.4; 10^4 keys, 1000 of them in the filter, 8 bits for each of these.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		const perKey = 8
		plain := chart.Series{Name: "plain", Color: 1}
		least := chart.Series{Name: "weighted, real k"}
		dots := chart.Series{Name: "weighted, measured", Measured: true}
		for step := range 29 {
			s := float64(step) / 20
			w := workload{fmt.Sprintf("Zipf %g", s), perKey, zipf(s), even}
			_, y, err := weighted.OptimalK(w.m(), w.keys())
			if err != nil {
				return err
			}
			least.Points = append(least.Points, chart.Point{X: s, Y: y})
			plain.Points = append(plain.Points, chart.Point{X: s, Y: plan.Filter{M: w.m(), K: plan.BestK(w.m(), members)}.FPRate(members)})
			if math.Mod(float64(step), 4) != 0 {
				continue
			}
			shape, err := w.shape()
			if err != nil {
				return err
			}
			got, err := r.Simulate(ctx, w.simulation(shape), max(5, r.Trials/20))
			if err != nil {
				return err
			}
			m := piece.Scaled(got.Of(rate), 1e-9)
			dots = m.On(dots, s)
			r.Add(
				piece.Row{What: fmt.Sprintf("exponent %g: least, real k", s), Recomputed: y},
				piece.Row{What: "whole k", Recomputed: shape.Forecast(members).FPRate, Measured: m},
			)
		}
		r.Draw(chart.Chart{Title: "Rates by Zipf's law, 8 bits a key", X: "exponent", Y: "rate", LogY: true, Left: true,
			Low: true, Series: []chart.Series{plain, least, dots}})
		return nil
	},
}
