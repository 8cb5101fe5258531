package compressed

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// deltaColumn is a column of Table VI or VII, as printed.
type deltaColumn struct {
	perKey, k        float64
	z, perChanged, f string
}

func (c deltaColumn) design() design { return design{c.perKey, c.k} }

var (
	table6 = []deltaColumn{
		{8, 5, "1.6713", "33.426", "0.0217"}, {12, 3, "1.6607", "33.214", "0.0108"},
		{32, 2, "1.6532", "33.064", "0.00367"}, {13, 2, "1.3124", "26.248", "0.0203"},
	}
	table7 = []deltaColumn{
		{8, 5, "0.4624", "46.24", "0.0217"}, {16, 3, "0.4856", "48.56", "0.0050"},
		{48, 2, "0.4500", "45.00", "0.00167"}, {13, 2, "0.3430", "34.30", "0.0203"},
	}
	// sparse designs aren't in the paper: with one cell per key a delta gains most.
	sparse = []struct {
		design
		c float64
	}{
		{design{46, 1}, 0.05}, {design{128, 1}, 0.05}, {design{272, 1}, 0.05}, {design{46, 1}, 0.01},
	}
)

const deltaNote = `
A share c of the keys was exchanged. The paper codes the exclusive or of the two filters,
q = 2p(1-p^c), z = m H(q), as if it were noise. The reader has the old filter: a cell of
it that is zero becomes one with probability a = 1-p^c, and one that is one becomes zero
with probability pa/(1-p), so the same delta in two strings takes m (p H(a) + (1-p) H(pa/(1-p)))
bits, given the old bits. At p=1/2 that gains nothing; as p goes to 1, half.`

var deltaTables = []piece.Piece{{
	Name: "004/table-6", Title: "Table VI: deltas, 5 % of the keys exchanged", Note: deltaNote,
	Make: func(ctx context.Context, r *piece.Run) error { return deltaTable(ctx, r, table6, 0.05) },
}, {
	Name: "004/table-7", Title: "Table VII: deltas, 1 % of the keys exchanged", Note: deltaNote,
	Make: func(ctx context.Context, r *piece.Run) error { return deltaTable(ctx, r, table7, 0.01) },
}}

var deltaSimulation = piece.Piece{
	Name:  "004/delta-simulation",
	Title: "Section IV: sizes of deltas, m=320000, k=2, c=0.05",
	Note: `
Bytes of the delta of one exchange of 500 keys of 10^4. The paper's 100 000 trials code the
exclusive or. *Ideal* is the length of Laplace codes; coders are beside the ideal of the same
deltas. umbel's message has, around the coded delta, the IDs of both filters, the number of
cells and checksums.`,
	Make: makeDeltaSimulation,
}

var deltaSparse = piece.Piece{
	Name:  "004/delta-sparse",
	Title: "Deltas of filters with one cell per key",
	Note: `
Not in the paper: given the old bits, a sparse filter's delta takes up to a quarter less
than its exclusive or.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, s := range sparse {
			r.Add(piece.Row{What: fmt.Sprintf("m/n=%g, k=%g, c=%g: f", s.perKey, s.k, s.c), Recomputed: s.rate()})
			if err := addDeltaSizes(ctx, r, s.design, s.c); err != nil {
				return err
			}
		}
		return nil
	},
}

func deltaTable(ctx context.Context, r *piece.Run, columns []deltaColumn, c float64) error {
	for _, col := range columns {
		d := col.design()
		z := d.deltaBits(c)
		r.Add(
			piece.Row{What: fmt.Sprintf("m/n=%g, k=%g: z/n", col.perKey, col.k), Printed: col.z, Recomputed: z},
			piece.Row{What: "z/(cn)", Printed: col.perChanged, Recomputed: z / c},
			piece.Row{What: "f", Printed: col.f, Recomputed: d.rate()},
		)
		if err := addDeltaSizes(ctx, r, d, c); err != nil {
			return err
		}
	}
	return nil
}

// addDeltaSizes adds what umbel's coder makes of a design's deltas, in bits per key.
func addDeltaSizes(ctx context.Context, r *piece.Run, d design, c float64) error {
	got, err := r.Simulate(ctx, deltas(d, c), r.Trials)
	if err != nil {
		return err
	}
	perKey := func(t trial.Tally) piece.Measure { return piece.Scaled(t, 8.0/keys) }
	r.Add(
		piece.Row{What: "z/n, exclusive or, umbel", Recomputed: d.deltaBits(c), Measured: perKey(got.Of(xorBytes)), Unit: "bits"},
		piece.Row{What: "z/n, given the old bits, umbel", Recomputed: d.contextBits(c), Measured: perKey(got.Of(contextBytes)), Unit: "bits"},
		piece.Row{What: "saved, %", Recomputed: 100 * (1 - d.contextBits(c)/d.deltaBits(c)),
			Measured: saved(got.Of(contextBytes), got.Of(xorBytes).Mean())},
	)
	return nil
}

func makeDeltaSimulation(ctx context.Context, r *piece.Run) error {
	d, c := design{32, 2}, 0.05
	got, err := r.Simulate(ctx, deltas(d, c), r.Trials)
	if err != nil {
		return err
	}
	fewer, err := r.Simulate(ctx, deltasByBits(d, c), min(r.Trials, mostByBits))
	if err != nil {
		return err
	}
	ideal := func(of trial.Result, value string) float64 { return of.Of(value).Mean() / 1000 }
	whole, given := got.Of(xorBytes), got.Of(contextBytes)
	r.Add(
		piece.Row{What: "mH(q)/8", Printed: "2066.5", Recomputed: d.deltaBits(c) * keys / 8},
		piece.Row{What: "exclusive or: mean, ideal", Recomputed: d.deltaBits(c) * keys / 8, Measured: piece.Scaled(got.Of(xorIdeal), 1./1000), Unit: "bytes"},
		piece.Row{What: "mean, umbel", Printed: "2090", Recomputed: ideal(got, xorIdeal), Measured: piece.Mean(whole), Unit: "bytes", Mark: withItsCoder},
		piece.Row{What: "mean, coder of the appendix", Recomputed: ideal(fewer, xorIdeal), Measured: piece.Mean(fewer.Of(byBits)), Unit: "bytes"},
		piece.Row{What: "standard deviation", Measured: spread(whole)},
		piece.Row{What: "most", Printed: "2129", Measured: count(whole.Max(), whole), Mark: withItsCoder},
		piece.Row{What: "least", Measured: count(whole.Min(), whole)},
		piece.Row{What: "given the old bits: mean, ideal", Recomputed: d.contextBits(c) * keys / 8, Measured: piece.Scaled(got.Of(contextIdeal), 1./1000), Unit: "bytes"},
		piece.Row{What: "mean, umbel", Recomputed: ideal(got, contextIdeal), Measured: piece.Mean(given), Unit: "bytes"},
		piece.Row{What: "mean, umbel's message", Recomputed: ideal(fewer, contextIdeal), Measured: piece.Mean(fewer.Of(message)), Unit: "bytes"},
		piece.Row{What: "standard deviation", Measured: spread(given)},
		piece.Row{What: "most", Measured: count(given.Max(), given)},
		piece.Row{What: "least", Measured: count(given.Min(), given)},
		piece.Row{What: "saved against the paper's 2090, %", Measured: saved(given, 2090)},
	)
	return nil
}
