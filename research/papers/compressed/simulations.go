package compressed

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// simulated is one of the simulations of section III-A, as printed; "" is what the
// paper doesn't say. Of Table III's design it says only the largest size.
type simulated struct {
	design
	theory, mean, sd, max string
	limit                 int64 // bytes that it was made to stay below, 0 if none
}

var simulations = []simulated{
	{design{14, 2}, "9904", "9920", "11.375", "9971", 10_000},
	{design{48, 3}, "19787", "19805", "14.386", "19865", 20_000},
	{design{7, 1}, "", "", "", "4998", 5000},
	{design{12.6, 2}, "", "9493", "", "9539", 0},
}

// mostByBits is the most trials that are made with the coder of the appendix.
const mostByBits = 5000

var simulation = piece.Piece{
	Name:  "004/simulations",
	Title: "Section III-A: sizes of compressed filters of 10^4 keys",
	Note: `
The paper has 100 000 trials of each design, coded by a public program with 13 to 18 bytes
of overhead. *Coder of the appendix* is binary arithmetic coding with adaptive counts, as
the appendix defines it, written anew here: most of the program's overhead isn't the
method's. *Ideal* is the length of a Laplace code, log2((m+1)!/(x!(m-x)!)) for x ones; coders
are beside the ideal of the same filters, and umbel's container adds a header and checksums.
The formula for the standard deviation is that of the number of ones, times the |log2(p/(1-p))|
bits that one more of them costs: the margin that a packet needs. The paper hasn't it.`,
	Make: makeSimulations,
}

func makeSimulations(ctx context.Context, r *piece.Run) error {
	for _, s := range simulations {
		if err := s.add(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (s simulated) add(ctx context.Context, r *piece.Run) error {
	got, err := r.Simulate(ctx, filters(s.design), r.Trials)
	if err != nil {
		return err
	}
	fewer, err := r.Simulate(ctx, filtersByBits(s.design), min(r.Trials, mostByBits))
	if err != nil {
		return err
	}
	bytes, ideal := got.Of(coded), s.idealBytes(got.Of(ones))
	r.Add(
		piece.Row{What: fmt.Sprintf("m=%d, k=%g: mH(p)/8", s.cells(keys), s.k), Printed: s.theory, Recomputed: s.bits() * keys / 8},
		piece.Row{What: "mean, ideal", Recomputed: s.laplaceMean(keys) / 8, Measured: ideal},
		piece.Row{What: "mean, umbel", Printed: s.mean, Recomputed: ideal.Value, Measured: piece.Mean(bytes), Unit: "bytes", Mark: mark(s.mean)},
		piece.Row{What: "mean, coder of the appendix", Recomputed: s.idealBytes(fewer.Of(ones)).Value, Measured: piece.Mean(fewer.Of(byBits)), Unit: "bytes"},
		piece.Row{What: "mean, umbel's container", Recomputed: s.idealBytes(fewer.Of(ones)).Value, Measured: piece.Mean(fewer.Of(message)), Unit: "bytes"},
		piece.Row{What: "standard deviation", Printed: s.sd, Recomputed: s.laplaceSD(keys) / 8, Measured: spread(bytes), Mark: mark(s.sd)},
		piece.Row{What: "most", Printed: s.max, Measured: count(bytes.Max(), bytes), Mark: mark(s.max)},
		piece.Row{What: "least", Measured: count(bytes.Min(), bytes)},
	)
	if s.limit != 0 {
		over := bytes.Share(func(v int64) bool { return v > s.limit })
		r.Add(piece.Row{What: fmt.Sprintf("share above %d bytes", s.limit), Measured: piece.Measure{Value: over, Trials: got.Trials}})
	}
	return nil
}
