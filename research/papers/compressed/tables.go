package compressed

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// column is a column of Tables I to V, as printed.
type column struct {
	perKey float64
	k      int
	z, f   string
	plain  bool // sent without compression: z is m
}

func (c column) design() design { return design{c.perKey, float64(c.k)} }

// bits returns z/n.
func (c column) bits() float64 {
	if c.plain {
		return c.perKey
	}
	return c.design().bits()
}

var (
	table1 = []column{
		{8, 6, "8", "0.0216", true}, {14, 2, "7.923", "0.0177", false}, {92, 1, "7.923", "0.0108", false},
	}
	table2 = []column{
		{16, 11, "16", "0.000459", true}, {28, 4, "15.846", "0.000314", false}, {48, 3, "15.829", "0.000222", false},
	}
	table3 = []column{
		{4, 3, "4", "0.147", true}, {7, 1, "3.962", "0.133", false},
	}
	table4 = []column{
		{8, 6, "8", "0.0216", true}, {12.6, 2, "7.582", "0.0216", false}, {46, 1, "6.891", "0.0215", false},
	}
	table5 = []column{
		{16, 11, "16", "0.000459", true}, {37.5, 3, "14.666", "0.000454", false}, {93, 2, "13.815", "0.000453", false},
	}
)

const tableNote = `
The exact rate is that of Bose et al. 2008, which does not assume independent cells. The rate
was measured with queries for 10^4 absent keys in filters of 10^4 keys. The bytes are those of
umbel's coder; *recomputed* is the mean ideal length of a Laplace code.`

const asTable1 = "The rows have the same meaning as in Table I."

var tables = []piece.Piece{
	table("004/table-1", "Table I: at most eight bits per key, compressed", tableNote, table1),
	table("004/table-2", "Table II: at most sixteen bits per key, compressed", asTable1, table2),
	table("004/table-3", "Table III: at most four bits per key, compressed", asTable1, table3),
	table("004/table-4", "Table IV: the same rate, around 0.02", asTable1, table4),
	table("004/table-5", "Table V: the same rate, around 0.00045", asTable1, table5),
}

// table returns the piece of one of Tables I to V.
func table(name, title, note string, columns []column) piece.Piece {
	return piece.Piece{
		Name: name, Title: title, Note: note,
		Make: func(ctx context.Context, r *piece.Run) error {
			for _, c := range columns {
				if err := c.add(ctx, r); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (c column) add(ctx context.Context, r *piece.Run) error {
	d := c.design()
	got, err := r.Simulate(ctx, filters(d), r.Trials)
	if err != nil {
		return err
	}
	r.Add(
		piece.Row{What: fmt.Sprintf("m/n=%g, k=%d: z/n", c.perKey, c.k), Printed: c.z, Recomputed: c.bits()},
		piece.Row{What: "f", Printed: c.f, Recomputed: d.rate()},
		piece.Row{What: "f, exact at n=10^4", Recomputed: d.exactRate(keys), Measured: rateOf(got)},
		piece.Row{What: "bytes at n=10^4", Recomputed: d.laplaceMean(keys) / 8, Measured: piece.Mean(got.Of(coded)), Unit: "bytes"},
	)
	return nil
}
