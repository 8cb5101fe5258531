package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var figure1 = piece.Piece{
	Name:  "002/figure-1",
	Title: "Figure 1: probabilities of positions, f = 0.1, up to 200 links",
	Note: `
For V-B, q_j is k p_j, as in the paper. The formula starts at 1/2, the best probability for one
link. The optima start at 0.011 and 0.008, because all sizes are equally frequent and most sets
are large. The search moves all positions before or after one position together, so parts of the
formula's slope remain.`,
	Make: makeFigure1,
}

func makeFigure1(_ context.Context, r *piece.Run) error {
	c := chart.Chart{Title: "Odds of positions, f = 0.1, n = 200", X: "j", Y: "q_j", LogY: true}
	goal := adaptive.Requirements{Rate: rate, Weights: adaptive.Uniform(links)}
	for i, m := range []struct {
		name   string
		design func() (*adaptive.Design, error)
	}{
		{formula, func() (*adaptive.Design, error) { return heuristic(links, rate) }},
		{searchA, searched[adaptive.Independent]},
		{searchB, searched[adaptive.Hashed]},
		{optimumA, func() (*adaptive.Design, error) { return adaptive.Optimum(goal) }},
		{optimumB, func() (*adaptive.Design, error) {
			goal.Objective = adaptive.Hashed
			return adaptive.Optimum(goal)
		}},
	} {
		d, err := m.design()
		if err != nil {
			return err
		}
		curve := chart.Series{Name: m.name, Color: i}
		j, ones := 0, 0.0
		shown := []int{1, 10, 100, 200, 500, 1000, d.Bits()}
		for _, run := range d.Runs {
			q := math.Ldexp(float64(run.Odds), -64) * float64(max(1, d.K))
			curve.Points = append(curve.Points, chart.Point{X: float64(j + 1), Y: q}, chart.Point{X: float64(j + run.Positions), Y: q})
			j += run.Positions
			ones += q * float64(run.Positions)
			for len(shown) > 0 && shown[0] <= j {
				r.Add(piece.Row{What: fmt.Sprintf("%s: q_%d", m.name, shown[0]), Recomputed: q})
				shown = shown[1:]
			}
		}
		r.Add(piece.Row{What: m.name + ": sum of q_j", Recomputed: ones})
		c.Series = append(c.Series, curve)
	}
	r.Draw(c)
	return nil
}

var figure2 = piece.Piece{
	Name:  "002/figure-2",
	Title: "Figure 2: lengths of the paper's five methods by number of links, f = 0.1",
	Note: `
The steps are new layers. The formula is a line with a slope of 10.4 bits per link; the searches
trade longer headers for few links, 50 bits for one link and 170 for ten, for shorter headers
with many links.`,
	Make: func(_ context.Context, r *piece.Run) error {
		c := lengthsChart("Lengths of headers, f = 0.1, the paper's methods")
		five := []method{ours[0]}
		for i, o := range []adaptive.Objective{adaptive.Independent, adaptive.Hashed} {
			d, err := searched[o]()
			if err != nil {
				return err
			}
			five = append(five, method{[]string{searchA, searchB}[i], 1 + i, func(int, float64) (adaptive.Lengths, error) { return d.Lengths(), nil }})
		}
		return drawLengths(r, c, append(five, counterparts[:2]...))
	},
}

var beyond2 = piece.Piece{
	Name:  "002/figure-2-beyond",
	Title: "Figure 2 for the optima and plain filters",
	Note: `
The optima are those of the paper's own problems, so no search finds shorter ones. A plain
filter of the necessary length is far shorter for few links and slightly shorter for 200,
because all its bits are best for the actual number of links.`,
	Make: func(_ context.Context, r *piece.Run) error {
		return drawLengths(r, lengthsChart("Lengths of headers, f = 0.1, optima and plain filters"), append(ours[:3:3], others[:3]...))
	},
}

func lengthsChart(title string) chart.Chart {
	return chart.Chart{Title: title, X: "links", Y: "bits", Left: true}
}

func drawLengths(r *piece.Run, c chart.Chart, ms []method) error {
	for _, m := range ms {
		l, err := m.lengths(links, rate)
		if err != nil {
			return err
		}
		curve := chart.Series{Name: m.name, Color: m.color}
		for i, bits := range l {
			curve.Points = append(curve.Points, chart.Point{X: float64(i + 1), Y: bits})
		}
		c.Series = append(c.Series, curve)
		for _, i := range []int{1, 10, 50, 100, 200} {
			r.Add(piece.Row{What: fmt.Sprintf("%s: bits of %d", m.name, i), Recomputed: l[i-1]})
		}
	}
	r.Draw(c)
	return nil
}
