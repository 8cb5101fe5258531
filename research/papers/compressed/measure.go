package compressed

import (
	"math"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// withItsCoder marks what the paper measured.
const withItsCoder = "paper's coder"

// mark is that of a number that the paper measured.
func mark(printed string) string {
	if printed == "" {
		return ""
	}
	return withItsCoder
}

// count is a row's most or least of a tally.
func count(v int64, of trial.Tally) piece.Measure {
	return piece.Measure{Value: float64(v), Trials: int(of.N())}
}

// spread returns the standard deviation of a tally, and its own as for a normal
// distribution.
func spread(t trial.Tally) piece.Measure {
	sd, n := t.SD(), t.N()
	return piece.Measure{Value: sd, Error: sd / math.Sqrt(2*float64(n-1)), Trials: int(n)}
}

// idealBytes returns the mean length of Laplace codes of filters with so many ones.
func (d design) idealBytes(ones trial.Tally) piece.Measure {
	m := float64(d.cells(keys))
	bytes := func(x int64) float64 { return laplaceBits(m, float64(x)) / 8 }
	n := float64(ones.N())
	return piece.Measure{Value: ones.MeanOf(bytes), Error: ones.SDOf(bytes) / math.Sqrt(n), Trials: int(n)}
}

// rateOf returns the measured rate of false positives.
func rateOf(r trial.Result) piece.Measure {
	return piece.Scaled(r.Of(yes), 1./questions)
}

// saved returns by how many percent the mean of a tally is below than, to the second
// digit after the point.
func saved(t trial.Tally, than float64) piece.Measure {
	return piece.Measure{Value: math.Round(1e4*(1-t.Mean()/than)) / 100, Trials: int(t.N())}
}
