package adaptive

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

var figure3 = piece.Piece{
	Name:  "002/figure-3",
	Title: "Figure 3: mean length by f, 1 to 200 links, equally frequent",
	Note: `
*Measured* are runs of the search with different seeds. The formula is longer than the
incremental filter at every f; at f = 0.001, so is V-A by search, and V-B is 3 % shorter.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		c := meansChart("Mean lengths of headers, 1 to 200 links, the paper's methods")
		ms := append([]method{ours[0]}, counterparts...)
		if err := drawMeans(r, &c, ms); err != nil {
			return err
		}
		for i, o := range []adaptive.Objective{adaptive.Independent, adaptive.Hashed} {
			dots := chart.Series{Name: []string{searchA, searchB}[i], Measured: true, Color: 1 + i}
			for _, f := range rates {
				m, err := searchMean(ctx, r, o, f)
				if err != nil {
					return err
				}
				dots = m.On(dots, f)
				r.Add(piece.Row{What: fmt.Sprintf("%s, f=%g", dots.Name, f), Measured: m})
			}
			c.Series = append(c.Series, dots)
		}
		r.Draw(c)
		return nil
	},
}

var beyond3 = piece.Piece{
	Name:  "002/figure-3-beyond",
	Title: "Figure 3 for the optima and plain filters",
	Note: `
Optima have fractional positions; whole positions cost half a bit more. The plain filter for 200
links has a fixed length. n log2 1/f is a lower bound for every filter.`,
	Make: func(_ context.Context, r *piece.Run) error {
		c := meansChart("Mean lengths of headers, 1 to 200 links, optima and plain filters")
		if err := drawMeans(r, &c, append(ours[1:3:3], others...)); err != nil {
			return err
		}
		r.Draw(c)
		return nil
	},
}

func meansChart(title string) chart.Chart {
	return chart.Chart{Title: title, X: "f", Y: "bits", LogX: true}
}

func drawMeans(r *piece.Run, c *chart.Chart, ms []method) error {
	for _, m := range ms {
		curve := chart.Series{Name: m.name, Color: m.color}
		for _, f := range rates {
			y, err := m.mean(f)
			if err != nil {
				return err
			}
			curve.Points = append(curve.Points, chart.Point{X: f, Y: y})
			r.Add(piece.Row{What: fmt.Sprintf("%s, f=%g", m.name, f), Recomputed: y})
		}
		c.Series = append(c.Series, curve)
	}
	return nil
}

// mean returns the mean length for 1 to 200 equally frequent links.
func (m method) mean(rate float64) (float64, error) {
	l, err := m.lengths(links, rate)
	if err != nil {
		return 0, err
	}
	return l.Mean(adaptive.Uniform(links)), nil
}

// searchMeans caches the results of searchMean, because checking a stored state takes a
// run, which takes a second.
var searchMeans sync.Map

// searchMean returns the mean length of the designs of the search, averaged over seeds. It
// uses few runs, because each takes a second.
func searchMean(ctx context.Context, r *piece.Run, o adaptive.Objective, rate float64) (piece.Measure, error) {
	const value, units = "mean length in thousandths", 1e3
	type key struct {
		*trial.Runner
		adaptive.Objective
		rate   float64
		trials int
	}
	k := key{r.Runner, o, rate, max(1, r.Trials/500)}
	if m, ok := searchMeans.Load(k); ok {
		return m.(piece.Measure), nil
	}
	sim := trial.Simulation{Name: fmt.Sprintf("002 search %v f=%g n=%d", o, rate, links), Values: []string{value}}
	sim.Worker = func() (trial.Trial, error) {
		return func(r *rand.ChaCha8, out []int64) error {
			w := adaptive.Uniform(links)
			d, err := greedy(adaptive.Requirements{Objective: o, Rate: rate, Weights: w}, search{seed: r.Uint64()})
			if err != nil {
				return err
			}
			out[0] = int64(math.Round(d.Lengths().Mean(w) * units))
			return nil
		}, nil
	}
	got, err := r.Simulate(ctx, sim, k.trials)
	if err != nil {
		return piece.Measure{}, err
	}
	m := piece.Scaled(got.Of(value), 1/units)
	if m.Trials == 1 {
		m.Error = 0 // unknown
	}
	searchMeans.Store(k, m)
	return m, nil
}
