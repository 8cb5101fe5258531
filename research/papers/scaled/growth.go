package scaled

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Numbers of keys at which growing filters are measured.
const leastKeys, mostKeys = 500, 64_000

var growth = piece.Piece{
	Name:  "001/growth",
	Title: "Rate and size while a filter grows",
	Note: `
umbel's scalable filter, f = 0.01, s = 2, first slices of 1024 cells. It begins a layer when the
last is half full, so each is at 2^-k and not at P_i; with r = 0.85, its default, the first
layers are stricter than with 0.5 and later ones less so. The formula takes a layer to be full
with the whole keys below half, and so is up to 1 % low. Sizes are by that of the one filter for
as many keys.`,
	Make: makeGrowth,
}

func makeGrowth(ctx context.Context, r *piece.Run) error {
	c := chart.Chart{Title: "A scalable filter grows, f = 0.01", X: "n", Y: "rate", LogX: true, LogY: true, Low: true}
	const rate = 0.01
	c.Series = append(c.Series, chart.Series{Name: "f", Colour: 5, Points: []chart.Point{{X: leastKeys, Y: rate}, {X: mostKeys, Y: rate}}})
	for i, tightening := range []float64{0.5, 0.85} {
		first, err := plan.ScalableFirstRate(rate, tightening)
		if err != nil {
			return err
		}
		shape := scalable.Shape{Slice: 1024, First: scalable.LogOf(first), Tightening: scalable.LogOf(tightening), Growth: 2}
		got, err := r.Simulate(ctx, growing(fmt.Sprintf("001 growth r=%g", tightening), shape), max(5, r.Trials/10))
		if err != nil {
			return err
		}
		curve := chart.Series{Name: fmt.Sprintf("r = %g", tightening), Colour: i}
		dots := chart.Series{Name: "measured", Measured: true, Colour: i}
		for n := float64(leastKeys); n <= mostKeys; n *= 1.03 {
			curve.Points = append(curve.Points, chart.Point{X: n, Y: shape.Forecast(uint64(n)).FPRate})
		}
		for n := leastKeys; n <= mostKeys; n *= 2 {
			fc := shape.Forecast(uint64(n))
			single, _, err := plan.Size(uint64(n), rate)
			if err != nil {
				return err
			}
			m := piece.Scaled(got.Of(yesAt(n)), 1./questions)
			dots = m.On(dots, float64(n))
			r.Add(
				piece.Row{What: fmt.Sprintf("r=%g, n=%d: rate", tightening, n), Recomputed: fc.FPRate, Measured: m},
				piece.Row{What: "bits by those of one filter", Recomputed: float64(fc.Cells) / float64(single), Measured: piece.Scaled(got.Of(cellsAt(n)), 1/float64(single))},
			)
		}
		c.Series = append(c.Series, curve, dots)
	}
	r.Draw(c)
	return nil
}

func yesAt(n int) string   { return fmt.Sprintf("yes with %d", n) }
func cellsAt(n int) string { return fmt.Sprintf("cells with %d", n) }

// growing is the simulation of scalable filters that grow.
func growing(name string, shape scalable.Shape) trial.Simulation {
	sim := trial.Simulation{Name: name}
	for n := leastKeys; n <= mostKeys; n *= 2 {
		sim.Values = append(sim.Values, yesAt(n), cellsAt(n))
	}
	sim.Worker = func() (trial.Trial, error) {
		ds := make([]umbel.Digest, mostKeys/2)
		return func(r *rand.ChaCha8, out []int64) error {
			f, err := scalable.NewShape(shape)
			if err != nil {
				return err
			}
			there := 0
			for i := 0; i < len(out); i += 2 {
				n := leastKeys << (i / 2)
				f.AddAll(nil, sample.Digests(r, ds[:n-there]))
				there = n
				out[i], out[i+1] = sample.Wrong(r, ds, questions, f.Has), 0
				for _, l := range f.Layers() {
					out[i+1] += int64(l.M)
				}
			}
			return nil
		}, nil
	}
	return sim
}
