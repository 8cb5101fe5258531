package folds

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

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
				base, err := bloom.NewShape(bloom.Shape{M: ladderCells, K: ladderK})
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
