package adaptive

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/adaptive"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

var anyLength = piece.Piece{
	Name:  "002/any-length",
	Title: "Plain filters of any length: rates of umbel's headers",
	Note: `
f = 0.1: headers of the form single have the lengths of "plain, any length" above, on average
484 bits for 1 to 200 links; those of the form folded have the next larger divisors of 55,440.
They are filled and queried as in routers. *Recomputed* is the exact rate (Bose et al. 2008).
Lengths are chosen with the usual formula, which is slightly too low for few links.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		single, err := adaptive.AnyLength(links, rate)
		if err != nil {
			return err
		}
		for _, form := range []inpacket.Form{inpacket.Single, inpacket.Folded} {
			shapes := make([]plainShape, len(sizes))
			for i, n := range sizes {
				shapes[i] = shapeOf(form, n, int(single[n-1]))
			}
			got, err := r.Simulate(ctx, filling(fmt.Sprintf("002 any length, form %d", form), form, shapes), r.Trials)
			if err != nil {
				return err
			}
			name := "single"
			if form == inpacket.Folded {
				name = "folded"
			}
			for i, n := range sizes {
				s := shapes[i]
				r.Add(piece.Row{
					What:       fmt.Sprintf("%s: %d links, %d bits, k=%d", name, n, s.length, s.k),
					Recomputed: plan.FPRateExact(uint64(s.length), s.k, uint64(n)),
					Measured:   piece.Scaled(got.Of(yesOf(n)), 1./questions),
				})
			}
		}
		return nil
	},
}

// plainShape is a filter's length, and how many positions a link has.
type plainShape struct{ length, k int }

// shapeOf is that of n links, at least so many bits long, with the best k.
func shapeOf(form inpacket.Form, n, length int) plainShape {
	for form == inpacket.Folded && inpacket.FoldBase%length != 0 {
		length++
	}
	best := plainShape{length, 1}
	for k := 2; k <= 15; k++ {
		if plan.FPRate(uint64(length), k, uint64(n)) < plan.FPRate(uint64(length), best.k, uint64(n)) {
			best.k = k
		}
	}
	return best
}

// filling is the simulation of headers of a form that are filled with links, and asked
// for others.
func filling(name string, form inpacket.Form, shapes []plainShape) trial.Simulation {
	sim := trial.Simulation{Name: name}
	for _, n := range sizes {
		sim.Values = append(sim.Values, yesOf(n))
	}
	sim.Worker = func() (trial.Trial, error) {
		asked := make([]inpacket.Codeword, questions)
		return func(r *rand.ChaCha8, out []int64) error {
			draw := func() inpacket.Codeword { return inpacket.Codeword{H1: r.Uint64(), H2: r.Uint64()} }
			for i := range asked {
				asked[i] = draw()
			}
			table := inpacket.NewTable(asked)
			for i, n := range sizes {
				h := inpacket.Header{Form: form, K: uint8(shapes[i].k), Bits: shapes[i].length, Filter: make([]byte, (shapes[i].length+7)/8)}
				for range n {
					if err := h.Or(draw()); err != nil {
						return err
					}
				}
				var held [(questions + 63) / 64]uint64
				table.Match(held[:], &h)
				out[i] = 0
				for _, w := range held {
					out[i] += int64(bits.OnesCount64(w))
				}
			}
			return nil
		}, nil
	}
	return sim
}
