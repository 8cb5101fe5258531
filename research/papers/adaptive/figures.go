package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/inpacket/adaptive"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var figure1 = piece.Piece{
	Name:  "002/figure-1",
	Title: "Figure 1: the odds of positions, f = 0.1, up to 200 links",
	Note: `
Of V-B q_j is k p_j, as in the paper. The formula begins at 1/2, the odds that are best for one
link; the optima begin at 0.011 and 0.008, since all sizes are as frequent here and most sets
are large. The search moves all positions before or behind one, so in its
teeth the slope of the formula is left over.`,
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
		curve := chart.Series{Name: m.name, Colour: i}
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
	Title: "Figure 2: the paper's five methods, lengths by the number of links, f = 0.1",
	Note: `
Steps are planes and layers that are opened. The formula is on a straight line of 10.4 bits a
link; the searches give up few links, 50 bits for one and 170 for ten, so that many cost less.`,
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
	Title: "The same of the optima, and of plain filters",
	Note: `
The optima are those of the paper's own problems, so no search finds less. A plain filter of the
length that its links need is far below for few links and still below for 200: its bits are all as
good for the number of links that there is.`,
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
		curve := chart.Series{Name: m.name, Colour: m.colour}
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
