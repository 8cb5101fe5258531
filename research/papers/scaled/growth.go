package scaled

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/almeida"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// The smallest and the largest number of keys at which growing filters are measured.
const leastKeys, mostKeys = 500, 64_000

var growth = piece.Piece{
	Name:  "001/growth",
	Title: "Rate and size while a filter grows",
	Note: `
umbel's scalable filter, f = 0.01, s = 2, first slices of 1024 cells. It starts a layer when the
last layer is half full, so the rate of each full layer is 2^-k instead of P_i. With r = 0.85,
its default, the first layers have lower rates than with 0.5, and later layers have higher ones.
The formula assumes that a layer is full with the whole number of keys just below half, and is
up to 1 % too low.`,
	Make: makeGrowth,
}

func makeGrowth(ctx context.Context, r *piece.Run) error {
	c := chart.Chart{Title: "A scalable filter grows, f = 0.01", X: "n", Y: "rate", LogX: true, LogY: true, Low: true}
	const rate = 0.01
	c.Series = append(c.Series, chart.Series{Name: "f", Color: 5, Points: []chart.Point{{X: leastKeys, Y: rate}, {X: mostKeys, Y: rate}}})
	for i, tightening := range []float64{0.5, 0.85} {
		first, err := almeida.FirstRate(rate, tightening)
		if err != nil {
			return err
		}
		shape := scalable.Shape{Slice: 1024, First: scalable.LogOf(first), Tightening: scalable.LogOf(tightening), Growth: 2}
		got, err := r.Simulate(ctx, growing(fmt.Sprintf("001 growth r=%g", tightening), shape), max(5, r.Trials/10))
		if err != nil {
			return err
		}
		curve := chart.Series{Name: fmt.Sprintf("r = %g", tightening), Color: i}
		dots := chart.Series{Name: "measured", Measured: true, Color: i}
		for n := float64(leastKeys); n <= mostKeys; n *= 1.03 {
			curve.Points = append(curve.Points, chart.Point{X: n, Y: shape.Forecast(uint64(n)).FPRate})
		}
		for n := leastKeys; n <= mostKeys; n *= 2 {
			fc := shape.Forecast(uint64(n))
			single, err := plan.Size(uint64(n), rate)
			if err != nil {
				return err
			}
			m := piece.Scaled(got.Of(yesAt(n)), 1./queries)
			dots = m.On(dots, float64(n))
			r.Add(
				piece.Row{What: fmt.Sprintf("r=%g, n=%d: rate", tightening, n), Recomputed: fc.FPRate, Measured: m},
				piece.Row{What: "bits relative to one filter", Recomputed: float64(fc.Cells) / float64(single.M),
					Measured: piece.Scaled(got.Of(cellsAt(n)), 1/float64(single.M))},
			)
		}
		c.Series = append(c.Series, curve, dots)
	}
	r.Draw(c)
	return nil
}

func yesAt(n int) string   { return fmt.Sprintf("yes with %d", n) }
func cellsAt(n int) string { return fmt.Sprintf("cells with %d", n) }

// growing returns a simulation of growing scalable filters.
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
			added := 0
			for i := 0; i < len(out); i += 2 {
				n := leastKeys << (i / 2)
				f.AddAll(nil, sample.Digests(r, ds[:n-added]))
				added = n
				out[i], out[i+1] = sample.FalsePositives(r, ds, queries, f.Has), 0
				for _, l := range f.Layers() {
					out[i+1] += int64(l.M)
				}
			}
			return nil
		}, nil
	}
	return sim
}

var cost = piece.Piece{
	Name:  "001/cost",
	Title: "The cost of an unknown number of keys",
	Note: `
Bits of a scalable filter, divided by those of one standard filter for the same number of keys:
the average over three decades of keys, evenly on a logarithmic scale, starting at the capacity
of the first layer. The summary uses r = 1/2, for which k_i are whole numbers; r = 0.8 to 0.85
costs less, and s = 4 costs more than s = 2. The first layer has slices of 1000 cells.`,
	Make: makeCost,
}

func makeCost(_ context.Context, r *piece.Run) error {
	c := chart.Chart{Title: "Cost of growth, three decades of keys", X: "r", Y: "bits by those of one filter", Left: true}
	color := 0
	for _, s := range []uint64{2, 4} {
		for _, f := range []float64{0.1, 0.01, 0.001} {
			curve := chart.Series{Name: fmt.Sprintf("s = %d, f = %g", s, f), Color: color}
			color++
			for r := 0.4; r < 0.96; r += 0.02 {
				y, err := design{f, r, s, 1000}.cost(100)
				if err != nil {
					return err
				}
				curve.Points = append(curve.Points, chart.Point{X: r, Y: y})
			}
			c.Series = append(c.Series, curve)
			for _, t := range []float64{0.5, 0.7, 0.8, 0.85, 0.9, 0.95} {
				y, err := design{f, t, s, 1000}.cost(400)
				if err != nil {
					return err
				}
				r.Add(piece.Row{What: fmt.Sprintf("f=%g, s=%d, r=%g", f, s, t), Recomputed: y})
			}
		}
	}
	r.Draw(c)
	return nil
}

// cost returns the average ratio of the bits of a scalable filter to those of a standard
// filter, over the given number of steps in three decades of keys.
func (d design) cost(steps int) (float64, error) {
	last := -1
	var first, holds, bits uint64
	sum := 0.0
	for i := range steps {
		for {
			n := uint64(float64(first) * math.Pow(1000, (float64(i)+0.5)/float64(steps)))
			if first > 0 && n <= holds {
				single, err := plan.Size(n, d.rate)
				if err != nil {
					return 0, err
				}
				sum += float64(bits) / float64(single.M)
				break
			}
			last++
			l, err := d.layer(last)
			if err != nil {
				return 0, err
			}
			if last == 0 {
				first = l.Capacity
			}
			holds, bits = holds+l.Capacity, bits+l.Cells()
		}
	}
	return sum / float64(steps), nil
}
