package adaptive

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

var theorem2 = piece.Piece{
	Name:  "002/theorem-2",
	Title: "Theorem 2: rates of truncated filters of the formula's design",
	Note: `
f = 0.1, up to 200 links: umbel's codewords, drawn as in the paper, and with those redrawn that
have fewer than 3 ones among the first 9 positions. Theorem 2 is exact for the former. For the
latter, the formula assumes that the positions of a filter are independent, which is wrong by
less than 1/m_i. Without redrawing, one link in 512 has no ones there, and matches every filter
of one other link until its key changes.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		d, err := heuristic(links, rate)
		if err != nil {
			return err
		}
		return drawRates(ctx, r, "formula", d)
	},
}

var theorem1 = piece.Piece{
	Name:  "002/theorem-1",
	Title: "Theorem 1: rates of truncated filters of V-B's optimum",
	Note: `
Theorem 1 assumes that the k positions of a codeword are independent given the filter, which is
nearly true. For one link, 97 % of the rate comes from links without any position among the
first 240, which always match until their keys change. If these are redrawn, the rate of small
sets almost vanishes, and that of 200 links increases by 3 %.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		d, err := adaptive.Optimum(adaptive.Requirements{Objective: adaptive.Hashed, Rate: rate, Weights: adaptive.Uniform(links)})
		if err != nil {
			return err
		}
		return drawRates(ctx, r, "optimum", d)
	},
}

// sizes contains the measured numbers of links.
var sizes = []int{1, 2, 3, 5, 10, 20, 50, 100, 200}

// drawRates measures a design with and without redrawing.
func drawRates(ctx context.Context, r *piece.Run, name string, d *adaptive.Design) error {
	once := *d
	once.Least = 0
	c := chart.Chart{Title: "Rates of filters cut to m_i, f = 0.1", X: "links", Y: "rate", LogX: true, Low: true}
	for i, x := range []struct {
		what   string
		design *adaptive.Design
		rate   func(int) float64
	}{
		{"as in the paper", &once, once.FPRate},
		{fmt.Sprintf("at least %d at the front", d.Least), d, d.RedrawnFPRate},
	} {
		got, err := r.Simulate(ctx, cutting(fmt.Sprintf("002 %s least=%d", name, x.design.Least), x.design), r.Trials)
		if err != nil {
			return err
		}
		curve, dots := chart.Series{Name: x.what, Color: i}, chart.Series{Name: "measured", Measured: true, Color: i}
		for n := 1; n <= links; n++ {
			curve.Points = append(curve.Points, chart.Point{X: float64(n), Y: x.rate(n)})
		}
		for _, n := range sizes {
			m := piece.Scaled(got.Of(yesOf(n)), 1./questions)
			dots = m.On(dots, float64(n))
			r.Add(piece.Row{What: fmt.Sprintf("%s: %d links, %d bits", x.what, n, d.Ends[n-1]), Recomputed: x.rate(n), Measured: m})
		}
		c.Series = append(c.Series, curve, dots)
		none := *d
		none.Least = 1
		share := none.Redrawn()
		if i > 0 {
			share = 0
		}
		r.Add(piece.Row{What: fmt.Sprintf("%s: links with no one among the first %d", x.what, d.Ends[0]), Recomputed: share,
			Measured: piece.Scaled(got.Of(empty), 1./questions)})
	}
	r.Draw(c)
	return nil
}

const (
	questions = 50
	empty     = "no one at the front"
)

func yesOf(n int) string { return fmt.Sprintf("yes with %d", n) }

// cutting returns a simulation of filters truncated to m_i. It adds links up to the largest
// size and queries absent links at each size.
func cutting(name string, d *adaptive.Design) trial.Simulation {
	sim := trial.Simulation{Name: name, Values: []string{empty}}
	for _, n := range sizes {
		sim.Values = append(sim.Values, yesOf(n))
	}
	sim.Worker = func() (trial.Trial, error) {
		s, err := d.Sampler()
		if err != nil {
			return nil, err
		}
		words := (d.Bits() + 63) / 64
		filter, w, queried := make([]uint64, words), make([]uint64, words), make([][]uint64, questions)
		return func(r *rand.ChaCha8, out []int64) error {
			draw := func(dst []uint64) []uint64 {
				return s.AppendCodeword(dst[:0], inpacket.Codeword{H1: r.Uint64(), H2: r.Uint64()}, 0)
			}
			clear(out)
			for i := range queried {
				queried[i] = draw(queried[i])
				if onesOf(queried[i], nil, d.Ends[0]) == 0 {
					out[0]++
				}
			}
			clear(filter)
			n := 0
			for i, size := range sizes {
				for ; n < size; n++ {
					w = draw(w)
					for j := range filter {
						filter[j] |= w[j]
					}
				}
				for _, a := range queried {
					if onesOf(a, filter, d.Ends[size-1]) == 0 {
						out[1+i]++
					}
				}
			}
			return nil
		}, nil
	}
	return sim
}

// onesOf returns the number of ones of w among the first m positions. If filter is not
// nil, it counts only ones that are zeros of filter.
func onesOf(w, filter []uint64, m int) (n int) {
	for i := 0; i*64 < m; i++ {
		x := w[i]
		if filter != nil {
			x &^= filter[i]
		}
		if rest := m - i*64; rest < 64 {
			x &= 1<<rest - 1
		}
		n += bits.OnesCount64(x)
	}
	return n
}

var likeness = piece.Piece{
	Name:  "002/likeness",
	Title: "Equations (11) to (15): is (8) \"exactly (3)\"?",
	Note: `
No. The step (11) from a product to a sum requires that the sum is small, but it is ln 1/f, more
than 2. With the best probability for n links, 1/(n+1), a filter must be 1.31 times as long as a
plain one: e ln(1/f) instead of ln(1/f)/ln²2 bits per link. With k = sum of q, equation (3)
predicts only a half to a fifth of the rate.`,
	Make: func(_ context.Context, r *piece.Run) error {
		for _, c := range []struct {
			n int
			f float64
		}{{10, 0.1}, {50, 0.1}, {200, 0.1}, {200, 0.01}, {200, 0.001}} {
			n := float64(c.n)
			q := 1 / (n + 1)
			gain := -math.Log1p(-q * math.Pow(1-q, n))
			m := math.Ceil(-math.Log(c.f) / gain)
			k := m * q
			plain, err := plan.Size(uint64(c.n), c.f)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("n=%d, f=%g: ", c.n, c.f)
			r.Add(
				piece.Row{What: what + "bits by (8) with q = 1/(n+1)", Recomputed: m},
				piece.Row{What: what + "rate by (8)", Recomputed: math.Exp(-gain * m)},
				piece.Row{What: what + "rate by (3) with k = sum of q", Recomputed: math.Pow(1-math.Pow(1-1/m, n*k), k)},
				piece.Row{What: what + "bits by those of a plain filter", Recomputed: m / float64(plain.M)},
			)
		}
		return nil
	},
}

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
					Recomputed: plan.Filter{M: uint64(s.length), K: s.k}.FPRateExact(uint64(n)),
					Measured:   piece.Scaled(got.Of(yesOf(n)), 1./questions),
				})
			}
		}
		return nil
	},
}

// plainShape contains the length of a filter and its number of positions per link.
type plainShape struct{ length, k int }

// shapeOf returns the shape for n links with at least length bits and the best k.
func shapeOf(form inpacket.Form, n, length int) plainShape {
	for form == inpacket.Folded && inpacket.FoldBase%length != 0 {
		length++
	}
	best := plainShape{length, 1}
	for k := 2; k <= 15; k++ {
		if (plan.Filter{M: uint64(length), K: k}).FPRate(uint64(n)) < (plan.Filter{M: uint64(length), K: best.k}).FPRate(uint64(n)) {
			best.k = k
		}
	}
	return best
}

// filling returns a simulation of headers of a form that are filled with links and queried
// for others.
func filling(name string, form inpacket.Form, shapes []plainShape) trial.Simulation {
	sim := trial.Simulation{Name: name}
	for _, n := range sizes {
		sim.Values = append(sim.Values, yesOf(n))
	}
	sim.Worker = func() (trial.Trial, error) {
		queried := make([]inpacket.Codeword, questions)
		return func(r *rand.ChaCha8, out []int64) error {
			draw := func() inpacket.Codeword { return inpacket.Codeword{H1: r.Uint64(), H2: r.Uint64()} }
			for i := range queried {
				queried[i] = draw()
			}
			table := inpacket.NewTable(queried)
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
