package folds

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/papers/internal/chart"
	"github.com/umbel-filters/umbel/papers/internal/piece"
	"github.com/umbel-filters/umbel/papers/internal/sample"
	"github.com/umbel-filters/umbel/papers/internal/trial"
	"github.com/umbel-filters/umbel/plan"
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
			low, high, err := plan.Interval(uint64(n), k, rho, rho/10)
			if err != nil {
				return err
			}
			dots.Points = append(dots.Points, chart.Point{X: got.Value, Y: float64(m)})
			r.Add(
				piece.Row{What: fmt.Sprintf("n=%d, ρ=%g: m", n, rho), Recomputed: float64(m)},
				piece.Row{What: fmt.Sprintf("7-smooth sizes from %d to %d", low, high), Recomputed: float64(len(number.Smooth(low, high, 7)))},
				piece.Row{What: "rate", Recomputed: plan.FPRateExact(m, k, uint64(n)), Measured: got},
			)
		}
		c.Series = append(c.Series, curve, dots)
	}
	r.Draw(c)
	return nil
}

// The base of the figure of rates along a ladder.
const (
	ladderCells, ladderKeys, ladderK = 40_320, 1000, 4
	ladderLeast                      = 1000 // cells of the smallest fold
	ladderQuestions                  = 20_000
)

var ladder = piece.Piece{
	Name:  "000/ladder",
	Title: "Rates along a ladder of folds",
	Note: fmt.Sprintf(`
A filter of %d cells with %d keys, k = %d, folded to each of its divisors from %d cells on:
the rate of each fold, as equation (4) should have it, and measured.`, ladderCells, ladderKeys, ladderK, ladderLeast),
	Make: makeLadder,
}

func makeLadder(ctx context.Context, r *piece.Run) error {
	var sizes []uint64
	var names []string
	for _, m := range plan.Ladder(ladderCells, 1) {
		if m >= ladderLeast {
			sizes, names = append(sizes, m), append(names, fmt.Sprintf("m=%d", m))
		}
	}
	got, err := r.Simulate(ctx, trial.Simulation{
		Name: "000 ladder", Values: names,
		Worker: func() (trial.Trial, error) {
			ds := make([]umbel.Digest, ladderQuestions)
			return func(r *rand.ChaCha8, out []int64) error {
				base, err := bloom.New(bloom.Shape{M: ladderCells, K: ladderK})
				if err != nil {
					return err
				}
				base.AddAll(nil, sample.Digests(r, ds[:ladderKeys]))
				for i, m := range sizes {
					f, err := bloom.Open(base.State().Clone())
					if err != nil {
						return err
					}
					if err := f.Fold(ladderCells / m); err != nil {
						return err
					}
					out[i] = sample.Wrong(r, ds, ladderQuestions, f.Has)
				}
				return nil
			}, nil
		},
	}, max(5, r.Trials/4))
	if err != nil {
		return err
	}
	curve := chart.Series{Name: "(1-(1-1/m)^(kn))^k"}
	dots := chart.Series{Name: "measured", Measured: true}
	for i, m := range sizes {
		x := float64(m)
		curve.Points = append(curve.Points, chart.Point{X: x, Y: plan.FPRate(m, ladderK, ladderKeys)})
		rate := piece.Scaled(got.Of(names[i]), 1./ladderQuestions)
		dots = rate.On(dots, x)
		r.Add(piece.Row{What: fmt.Sprintf("folded by %d to %d: rate", ladderCells/m, m), Recomputed: plan.FPRateExact(m, ladderK, ladderKeys), Measured: rate})
	}
	r.Draw(chart.Chart{
		Title: "Rates of folds of 40 320 cells, n = 1000, k = 4", X: "m", Y: "rate", LogX: true, LogY: true,
		Series: []chart.Series{curve, dots},
	})
	return nil
}

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
	m, err := plan.Base(uint64(b.n), b.k, b.rho, b.eps, 0)
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
			f, err := folding.New(shape)
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
		r.Add(piece.Row{What: fmt.Sprintf("n=%d, %d cells: rate", n, shape.Face(uint64(n))), Recomputed: shape.Forecast(uint64(n)).FPRate, Measured: rate})
	}
	r.Draw(chart.Chart{
		Title: fmt.Sprintf("A base of %d cells, kept at 0.01 ± 0.002", m), X: "n", Y: "rate", Left: true, Low: true,
		Series: []chart.Series{limit("ρ+ε", b.rho+b.eps), limit("ρ-ε", b.rho-b.eps), curve, dots},
	})
	return nil
}
