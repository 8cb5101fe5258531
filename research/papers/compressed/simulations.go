package compressed

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// simulated is a simulation of section III-A, as printed. An empty string is a number that
// the paper does not give; for the design of Table III it gives only the largest size.
type simulated struct {
	design
	theory, mean, sd, max string
	limit                 int64 // intended largest size in bytes; 0 if there is none
}

var simulations = []simulated{
	{design{14, 2}, "9904", "9920", "11.375", "9971", 10_000},
	{design{48, 3}, "19787", "19805", "14.386", "19865", 20_000},
	{design{7, 1}, "", "", "", "4998", 5000},
	{design{12.6, 2}, "", "9493", "", "9539", 0},
}

// mostByBits is the largest number of trials with the coder of the appendix.
const mostByBits = 5000

var simulation = piece.Piece{
	Name:  "004/simulations",
	Title: "Section III-A: sizes of compressed filters of 10^4 keys",
	Note: `
The paper has 100 000 trials of each design, coded by a public program with an overhead of 13 to
18 bytes. *Coder of the appendix* is our implementation of the method that the appendix defines,
binary arithmetic coding with adaptive counts: most of the overhead is that program's, not the
method's. *Ideal* is the length of a Laplace code, log2((m+1)!/(x!(m-x)!)) for x ones; each
coder is compared with the ideal of the same filters. umbel's container adds a header and
checksums. The standard deviation, which a packet needs as its margin, is not in the paper: it
is the standard deviation of the number of ones, times the |log2(p/(1-p))| bits that one more of
them costs.`,
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

// withItsCoder marks numbers that the paper measured.
const withItsCoder = "paper's coder"

// mark returns the mark of a number that the paper measured, "" if there is none.
func mark(printed string) string {
	if printed == "" {
		return ""
	}
	return withItsCoder
}

// count returns the largest or smallest value of a tally as a measurement.
func count(v int64, of trial.Tally) piece.Measure {
	return piece.Measure{Value: float64(v), Trials: int(of.N())}
}

// spread returns the standard deviation of a tally. Its error is that of a normal
// distribution.
func spread(t trial.Tally) piece.Measure {
	sd, n := t.SD(), t.N()
	return piece.Measure{Value: sd, Error: sd / math.Sqrt(2*float64(n-1)), Trials: int(n)}
}

// idealBytes returns the mean length in bytes of Laplace codes of filters, given the tally
// of their ones.
func (d design) idealBytes(ones trial.Tally) piece.Measure {
	m := float64(d.cells(keys))
	bytes := func(x int64) float64 { return laplaceBits(m, float64(x)) / 8 }
	n := float64(ones.N())
	return piece.Measure{Value: ones.MeanOf(bytes), Error: ones.SDOf(bytes) / math.Sqrt(n), Trials: int(n)}
}

// rateOf returns the measured false-positive rate.
func rateOf(r trial.Result) piece.Measure {
	return piece.Scaled(r.Of(yes), 1./queries)
}

// saved returns by how many percent the mean of a tally is below reference, rounded to
// two decimals.
func saved(t trial.Tally, reference float64) piece.Measure {
	return piece.Measure{Value: math.Round(1e4*(1-t.Mean()/reference)) / 100, Trials: int(t.N())}
}

// counters measures section V, counting filters as messages, which has no numbers.
var counters = piece.Piece{
	Name:  "004/counters",
	Title: "Section V: counting filters as messages",
	Note: `
The paper expects that "compression would yield substantial gains". Here counters have 4 bits;
those of random keys have a Poisson distribution with mean kn/m, whose entropy is the formula.
Compared with the bits alone, counters cost little more in a sparse filter, and they let a
reader delete keys.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, d := range []design{{8, 5}, {16, 11}, {14, 2}, {48, 3}, {92, 1}} {
			got, err := r.Simulate(ctx, counted(d), max(5, r.Trials/10))
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("m/n=%g, k=%g: bits per key in memory", d.perKey, d.k), Recomputed: 4 * d.perKey},
				piece.Row{What: "z/n of the counters", Recomputed: d.counterBits(), Measured: piece.Scaled(got.Of(coded), 8.0/keys), Unit: "bits"},
				piece.Row{What: "z/n of the bits alone", Recomputed: d.bits()},
			)
		}
		return nil
	},
}

// counterBits returns the bits per key of an ideal code of the counters: m/n times the
// entropy of a Poisson distribution with mean kn/m.
func (d design) counterBits() float64 {
	mean := d.k / d.perKey
	sum := 0.0
	for i := 0.0; i < 64; i++ {
		ln := i*math.Log(mean) - mean - lnFactorial(i)
		sum -= math.Exp(ln) * ln / math.Ln2
	}
	return d.perKey * sum
}

// counted returns a simulation of counting filters.
func counted(d design) trial.Simulation {
	return trial.Simulation{
		Name:   fmt.Sprintf("004 counters m=%d k=%g", d.cells(keys), d.k),
		Values: []string{coded},
		Worker: func() (trial.Trial, error) {
			f, err := counting.NewShape(counting.Shape{M: d.cells(keys), K: int(d.k)})
			if err != nil {
				return nil, err
			}
			b, err := newBench(d, 0)
			if err != nil {
				return nil, err
			}
			return func(r *rand.ChaCha8, out []int64) error {
				f.Clear()
				f.AddAll(nil, b.random(r, keys))
				out[0] = b.coded(f.State().Arrays[0])
				return nil
			}, nil
		},
	}
}
