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

// counters is section V, which has no numbers: filters that count, as messages.
var counters = piece.Piece{
	Name:  "004/counters",
	Title: "Section V: counting filters as messages",
	Note: `
"Compression would yield substantial gains", says the paper. Counters have 4 bits here; of
random keys they are Poisson, with mean kn/m, and the entropy of that is the formula. Beside
it stands z/n of the filter's bits alone: for a sparse one, counters that a reader can delete
from cost little more.`,
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

// counterBits returns the bits per key of an ideal code of the counters: m/n times
// the entropy of a Poisson distribution with mean kn/m.
func (d design) counterBits() float64 {
	mean := d.k / d.perKey
	sum := 0.0
	for i := 0.0; i < 64; i++ {
		ln := i*math.Log(mean) - mean - lnFactorial(i)
		sum -= math.Exp(ln) * ln / math.Ln2
	}
	return d.perKey * sum
}

// counted is the simulation of filters that count.
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
