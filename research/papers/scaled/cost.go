package scaled

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var cost = piece.Piece{
	Name:  "001/cost",
	Title: "What it costs not to know the number of keys",
	Note: `
Bits of a scalable filter by those of one standard filter made for its keys, in the mean over
three decades of keys from the first layer's capacity on, evenly on a logarithmic scale. The
summary takes r = 1/2, for then k_i are whole; 0.8 to 0.85 costs less, and s = 4 more than 2.
First slices have 1000 cells.`,
	Make: makeCost,
}

func makeCost(_ context.Context, r *piece.Run) error {
	c := chart.Chart{Title: "Cost of growth, three decades of keys", X: "r", Y: "bits by those of one filter", Left: true}
	colour := 0
	for _, s := range []uint64{2, 4} {
		for _, f := range []float64{0.1, 0.01, 0.001} {
			curve := chart.Series{Name: fmt.Sprintf("s = %d, f = %g", s, f), Colour: colour}
			colour++
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

// cost returns the mean of the bits of a scalable filter by those of a standard one,
// over so many numbers of keys in three decades.
func (d design) cost(steps int) (float64, error) {
	last := -1
	var first, holds, bits uint64
	sum := 0.0
	for i := range steps {
		for {
			n := uint64(float64(first) * math.Pow(1000, (float64(i)+0.5)/float64(steps)))
			if first > 0 && n <= holds {
				single, _, err := plan.Size(n, d.rate)
				if err != nil {
					return 0, err
				}
				sum += float64(bits) / float64(single)
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
