package compressed

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// The values that a trial of deltas measures. Lengths of ideal codes are in 1/1000 byte.
const (
	xorBytes     = "xor"           // bytes of the exclusive or by umbel's coder
	xorIdeal     = "xor ideal"     // the same by a Laplace code
	contextBytes = "context"       // bytes of the delta given the old bits, by umbel's coder
	contextIdeal = "context ideal" // the same by two Laplace codes, one for each value of the old bit
)

// deltas returns a simulation that exchanges a share c of a filter's keys.
func deltas(d design, c float64) trial.Simulation {
	return trial.Simulation{
		Name:   fmt.Sprintf("004 delta m=%d k=%g c=%g", d.cells(keys), d.k, c),
		Values: []string{xorBytes, xorIdeal, contextBytes, contextIdeal},
		Worker: func() (trial.Trial, error) {
			b, err := newDeltaBench(d, int(math.Round(c*keys)))
			if err != nil {
				return nil, err
			}
			return b.delta, nil
		},
	}
}

// deltasByBits returns the same simulation for the coder of the paper's appendix, which
// codes the exclusive or, and for whole messages.
func deltasByBits(d design, c float64) trial.Simulation {
	sim := deltas(d, c)
	sim.Name += " by bits"
	sim.Values = append(sim.Values, byBits, message)
	sim.Worker = func() (trial.Trial, error) {
		b, err := newDeltaBench(d, int(math.Round(c*keys)))
		if err != nil {
			return nil, err
		}
		return b.byBits, nil
	}
	return sim
}

// deltaBench is a bench with two filters and their difference.
type deltaBench struct {
	*bench
	exchanged int // number of keys

	old, now, flips cells.Array // the arrays of the two filters; their exclusive or
}

func newDeltaBench(d design, exchanged int) (*deltaBench, error) {
	b, err := newBench(d, 2)
	if err != nil {
		return nil, err
	}
	old := cellsOf(b.filters[0])
	return &deltaBench{b, exchanged, old, cellsOf(b.filters[1]), old.Clone()}, nil
}

func (b *deltaBench) delta(r *rand.ChaCha8, out []int64) error {
	b.exchange(r)
	var added, removed int
	for i, w := range b.old.Words {
		flips := w ^ b.now.Words[i]
		b.flips.Words[i] = flips
		added += bits.OnesCount64(flips &^ w)
		removed += bits.OnesCount64(flips & w)
	}
	m, ones := float64(b.old.Len), float64(b.old.Nonzero())
	out[0] = b.coded(b.flips)
	out[1] = milli(laplaceBits(m, float64(added+removed)))
	out[2] = b.given()
	out[3] = milli(laplaceBits(m-ones, float64(added)) + laplaceBits(ones, float64(removed)))
	return nil
}

func (b *deltaBench) byBits(r *rand.ChaCha8, out []int64) error {
	err := b.delta(r, out)
	b.bytes = appendAdaptive(b.bytes[:0], b.flips)
	out[4] = int64(len(b.bytes))
	if err == nil {
		known := delta.Encoder{Base: wire.ID{1}, Result: wire.ID{2}} // the length does not depend on the IDs
		b.bytes, err = known.Append(b.bytes[:0], b.filters[0].State(), b.filters[1].State())
	}
	out[5] = int64(len(b.bytes))
	return err
}

// exchange fills the two filters: most keys are in both, the others in one.
func (b *deltaBench) exchange(r *rand.ChaCha8) {
	old, now := b.filters[0], b.filters[1]
	old.Clear()
	old.AddAll(nil, b.random(r, keys-b.exchanged))
	copy(b.now.Words, b.old.Words)
	old.AddAll(nil, b.random(r, b.exchanged))
	now.AddAll(nil, b.random(r, b.exchanged))
}

// given returns the number of bytes of the new cells, coded by umbel's coder block by
// block for a reader that has the old cells.
func (b *deltaBench) given() (n int64) {
	next, stop := iter.Pull(blocks(b.old))
	defer stop()
	for block := range blocks(b.now) {
		old, _ := next()
		b.bytes = b.coder.AppendDelta(b.bytes[:0], old, block)
		n += int64(len(b.bytes))
	}
	return n
}

// milli converts a number of bits to 1/1000 byte.
func milli(bits float64) int64 { return int64(math.Round(bits / 8 * 1000)) }

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
	// sparse designs are not in the paper. With one cell per key, a delta saves most.
	sparse = []struct {
		design
		c float64
	}{
		{design{46, 1}, 0.05}, {design{128, 1}, 0.05}, {design{272, 1}, 0.05}, {design{46, 1}, 0.01},
	}
)

const deltaNote = `
A share c of the keys was exchanged. The paper codes the exclusive or of the two filters, q =
2p(1-p^c), z = m H(q), as if its bits were independent of the old filter. But the reader has the
old filter: an old zero becomes one with probability a = 1-p^c, and an old one becomes zero with
probability pa/(1-p). Given the old bits, the same delta takes m (p H(a) + (1-p) H(pa/(1-p)))
bits. At p=1/2 that saves nothing; as p goes to 1, it saves half.`

var deltaTables = []piece.Piece{{
	Name: "004/table-6", Title: "Table VI: deltas, 5 % of the keys exchanged", Note: deltaNote,
	Make: func(ctx context.Context, r *piece.Run) error { return deltaTable(ctx, r, table6, 0.05) },
}, {
	Name: "004/table-7", Title: "Table VII: deltas, 1 % of the keys exchanged", Note: "The rows have the same meaning as in Table VI.",
	Make: func(ctx context.Context, r *piece.Run) error { return deltaTable(ctx, r, table7, 0.01) },
}}

var deltaSimulation = piece.Piece{
	Name:  "004/delta-simulation",
	Title: "Section IV: sizes of deltas, m=320000, k=2, c=0.05",
	Note: `
Bytes of the delta after one exchange of 500 of 10^4 keys. In its 100 000 trials, the paper
codes the exclusive or. *Ideal* is the length of Laplace codes; each coder is compared with the
ideal of the same deltas. In addition to the coded delta, umbel's message contains the IDs of
both filters, the number of cells and checksums.`,
	Make: makeDeltaSimulation,
}

var deltaSparse = piece.Piece{
	Name:  "004/delta-sparse",
	Title: "Deltas of filters with one cell per key",
	Note: `
Not in the paper: given the old bits, the delta of a sparse filter is up to a quarter smaller
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

// addDeltaSizes adds the sizes of a design's deltas by umbel's coder, in bits per key.
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
		piece.Row{What: "given the old bits: mean, ideal", Recomputed: d.contextBits(c) * keys / 8,
			Measured: piece.Scaled(got.Of(contextIdeal), 1./1000), Unit: "bytes"},
		piece.Row{What: "mean, umbel", Recomputed: ideal(got, contextIdeal), Measured: piece.Mean(given), Unit: "bytes"},
		piece.Row{What: "mean, umbel's message", Recomputed: ideal(fewer, contextIdeal), Measured: piece.Mean(fewer.Of(message)), Unit: "bytes"},
		piece.Row{What: "standard deviation", Measured: spread(given)},
		piece.Row{What: "most", Measured: count(given.Max(), given)},
		piece.Row{What: "least", Measured: count(given.Min(), given)},
		piece.Row{What: "saved compared with the paper's 2090, %", Measured: saved(given, 2090)},
	)
	return nil
}
