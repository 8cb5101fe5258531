package adaptive

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var growth = piece.Piece{
	Name:  "002/growth",
	Title: "Mean lengths by largest number of links, f = 0.1",
	Note: `
All numbers of links are equally frequent. The saving of the optimum compared with the formula
hardly grows, and is at most 43 %.`,
	Make: func(_ context.Context, r *piece.Run) error {
		for _, n := range []int{10, 20, 50, 100, 200, 400, 800} {
			var means []float64
			for _, m := range []method{ours[0], ours[1], ours[2], others[0]} {
				l, err := m.lengths(n, rate)
				if err != nil {
					return err
				}
				means = append(means, l.Mean(adaptive.Uniform(n)))
				name := m.name
				if m.name == others[0].name {
					name = fmt.Sprintf("plain, for %d", n)
				}
				r.Add(piece.Row{What: fmt.Sprintf("up to %d links: %s", n, name), Recomputed: means[len(means)-1]})
			}
			r.Add(
				piece.Row{What: "V-B optimum saves on the formula, %", Recomputed: fewer(means[2], means[0])},
				piece.Row{What: "on the plain filter, %", Recomputed: fewer(means[2], means[3])},
			)
		}
		return nil
	},
}

var weights = piece.Piece{
	Name:  "002/weights",
	Title: "Mean lengths if small sets are frequent",
	Note: `
1 to 200 links, with frequencies proportional to 1/i: 34 links on average. Designs without the
frequencies lose most, and filters of any length gain most. The best k of V-B is twice that of
uniform frequencies.`,
	Make: func(_ context.Context, r *piece.Run) error {
		w := adaptive.Inverse(links)
		for _, f := range []float64{0.1, 0.01, 0.001} {
			add := func(name string, mean float64) {
				r.Add(piece.Row{What: fmt.Sprintf("f=%g: %s", f, name), Recomputed: mean})
			}
			h, err := ours[0].lengths(links, f)
			if err != nil {
				return err
			}
			add(formula, h.Mean(w))
			for i, o := range []adaptive.Objective{adaptive.Independent, adaptive.Hashed} {
				best, err := relax(adaptive.Requirements{Objective: o, Rate: f, Weights: w})
				if err != nil {
					return err
				}
				name := ours[1+i].name
				if o == adaptive.Hashed {
					name += fmt.Sprintf(", k=%d", best.K)
				}
				add(name, best.Mean)
				wrong, err := relax(adaptive.Requirements{Objective: o, Rate: f, Weights: adaptive.Uniform(links)})
				if err != nil {
					return err
				}
				add(ours[1+i].name+" of uniform frequencies", adaptive.Lengths(wrong.Lengths()).Mean(w))
			}
			for _, m := range append(counterparts[:2:2], others[0], others[1], others[3]) {
				l, err := m.lengths(links, f)
				if err != nil {
					return err
				}
				add(m.name, l.Mean(w))
			}
			l, k, err := folded(links, f, 0, w)
			if err != nil {
				return err
			}
			add(fmt.Sprintf("%s, k=%d", others[2].name, k), l.Mean(w))
		}
		return nil
	},
}
