package folds

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

var face = piece.Piece{
	Name:  "000/face",
	Title: "A filter that folds by itself",
	Note: `
umbel's folding filter while keys come: a base for 1000 keys, k = 4, 12 times as large as they
need, kept at ρ = 0.01 ± 0.002. Where a fold would leave the interval, the next one answers.
The formula is that of the size which n keys are expected to have; filters differ in when they
fold anew.`,
	Make: makeFace,
}

func makeFace(ctx context.Context, r *piece.Run) error {
	const questions = 20_000
	b := bands[1]
	m, err := plan.BaseSize(uint64(b.n), b.k, b.rho, b.eps, 0)
	if err != nil {
		return err
	}
	shape, err := folding.Shape{M: m, K: b.k}.Keep(b.rho, b.eps)
	if err != nil {
		return err
	}
	var at []int
	var names []string
	for n := 50; n <= b.n; n += 50 {
		at, names = append(at, n), append(names, fmt.Sprintf("n=%d", n))
	}
	got, err := r.Simulate(ctx, trial.Simulation{
		Name: "000 face", Values: names,
		Worker: func() (trial.Trial, error) {
			keys, others := make([]umbel.Digest, b.n), make([]umbel.Digest, 1000)
			f, err := folding.NewShape(shape)
			if err != nil {
				return nil, err
			}
			return func(r *rand.ChaCha8, out []int64) error {
				f.Clear()
				for i, d := range sample.Digests(r, keys) {
					f.Add(d)
					if n := i + 1; n%50 == 0 {
						out[n/50-1] = sample.Wrong(r, others, questions, f.Has)
					}
				}
				return nil
			}, nil
		},
	}, max(5, r.Trials/10))
	if err != nil {
		return err
	}
	limit := func(name string, rate float64) chart.Series {
		return chart.Series{Name: name, Colour: 1, Points: []chart.Point{{Y: rate}, {X: float64(b.n), Y: rate}}}
	}
	curve, dots := chart.Series{Name: "formula"}, chart.Series{Name: "measured", Measured: true, Colour: 2}
	for n := 10; n <= b.n; n += 2 {
		curve.Points = append(curve.Points, chart.Point{X: float64(n), Y: shape.Forecast(uint64(n)).FPRate})
	}
	for i, n := range at {
		rate := piece.Scaled(got.Of(names[i]), 1./questions)
		dots = rate.On(dots, float64(n))
		r.Add(piece.Row{What: fmt.Sprintf("n=%d, %d cells: rate", n, shape.FoldedSize(uint64(n))), Recomputed: shape.Forecast(uint64(n)).FPRate, Measured: rate})
	}
	r.Draw(chart.Chart{
		Title: fmt.Sprintf("A base of %d cells, kept at 0.01 ± 0.002", m), X: "n", Y: "rate", Left: true, Low: true,
		Series: []chart.Series{limit("ρ+ε", b.rho+b.eps), limit("ρ-ε", b.rho-b.eps), curve, dots},
	})
	return nil
}
