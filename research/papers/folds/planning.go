package folds

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// coverage returns two averages over 1 to n keys: the share for which one of the
// fold sizes is in the interval, and the excess of the fold over the smallest size in the
// interval, as a fraction of that size.
func coverage(sizes []uint64, n uint64, k int, rho, eps float64) (inside, waste float64) {
	for keys := uint64(1); keys <= n; keys++ {
		size, in := plan.Interval{K: k, FPRate: rho, Eps: eps}.Target(sizes, keys)
		if in {
			inside++
		}
		least := math.Ceil(-1 / math.Expm1(math.Log1p(-math.Pow(rho+eps, 1/float64(k)))/(float64(k)*float64(keys))))
		waste += float64(size)/least - 1
	}
	return inside / float64(n), waste / float64(n)
}

var planning = piece.Piece{
	Name:  "000/planning",
	Title: "Section IV: a size to fold from, as the paper plans it",
	Note: `
The paper chooses a number with many divisors in the interval of equation (14) for the largest
n; here it is the smallest number with the most divisors. The rows give the share of 1 to n keys
for which a divisor is in their interval, and how much larger than the lower end of the interval
the fold is on average. The last two rows are for the next power of two, which folds to fewer
sizes.`,
	Make: func(_ context.Context, r *piece.Run) error {
		for _, b := range bands {
			if b.k == 2 && b.n != 1000 {
				continue
			}
			low, high, err := plan.Interval{K: b.k, FPRate: b.rho, Eps: b.eps}.Sizes(uint64(b.n))
			if err != nil {
				return err
			}
			m, _ := number.MostDivisors(low, high)
			two := uint64(1)
			for two < low {
				two *= 2
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("n=%d, k=%d, ρ=%g±%g: m from %d to %d, of most divisors", b.n, b.k, b.rho, b.eps, low, high), Recomputed: float64(m)},
				piece.Row{What: "divisors", Recomputed: float64(number.CountDivisors(m))},
			)
			for _, base := range []uint64{m, two} {
				inside, waste := coverage(plan.FoldSizes(base, 1), uint64(b.n), b.k, b.rho, b.eps)
				r.Add(
					piece.Row{What: fmt.Sprintf("from %d: n with a size in the interval, %%", base), Recomputed: 100 * inside},
					piece.Row{What: "mean excess of the folds, %", Recomputed: 100 * waste},
				)
			}
		}
		return nil
	},
}

var oversize = piece.Piece{
	Name:  "000/oversize",
	Title: "A base larger than its keys need",
	Note: `
Not in the paper: a base several times as large as its keys need has divisors close to every
size. n=1000, k=4, ρ = 0.01 ± 0.002; the excess of the folds is the average over 1 to n keys.
The base takes memory where the keys are, but only the fold is sent. umbel plans with 12 times.`,
	Make: func(_ context.Context, r *piece.Run) error {
		b := bands[1]
		for _, times := range []float64{1, 2, 3, 4, 6, 8, 12, 16, 24} {
			m, err := plan.Interval{K: b.k, FPRate: b.rho, Eps: b.eps}.Base(uint64(b.n), times)
			if err != nil {
				return err
			}
			inside, waste := coverage(plan.FoldSizes(m, 1), uint64(b.n), b.k, b.rho, b.eps)
			r.Add(
				piece.Row{What: fmt.Sprintf("%g times: %d cells, divisors", times, m), Recomputed: float64(number.CountDivisors(m))},
				piece.Row{What: "n with a size in the interval, %", Recomputed: 100 * inside},
				piece.Row{What: "mean excess of the folds, %", Recomputed: 100 * waste},
			)
		}
		for _, m := range []uint64{1 << 20, 1e6, 720_720, 997_920} {
			r.Add(piece.Row{What: fmt.Sprintf("base of %d: mean excess of the folds, %%, sizes evenly on a logarithmic scale",
				m), Recomputed: 100 * plan.MeanOvershoot(plan.FoldSizes(m, 1))})
		}
		return nil
	},
}

// The filter of the piece 000/fold-rates.
const (
	foldCells, foldKeys, foldK = 40_320, 1000, 4
	foldLeast                  = 1000 // number of cells of the smallest fold
	foldQueries                = 20_000
)

var foldRates = piece.Piece{
	Name:  "000/fold-rates",
	Title: "Rates of the folds of a filter",
	Note: fmt.Sprintf(`
A filter of %d cells with %d keys, k = %d, folded to each of its divisors of at least %d cells:
the rate of each fold by equation (4), corrected, and measured.`, foldCells, foldKeys, foldK, foldLeast),
	Make: makeFoldRates,
}

func makeFoldRates(ctx context.Context, r *piece.Run) error {
	var sizes []uint64
	var names []string
	for _, m := range plan.FoldSizes(foldCells, 1) {
		if m >= foldLeast {
			sizes, names = append(sizes, m), append(names, fmt.Sprintf("m=%d", m))
		}
	}
	got, err := r.Simulate(ctx, trial.Simulation{
		Name: "000 ladder", Values: names, // the name determines the seeds
		Worker: func() (trial.Trial, error) {
			ds := make([]umbel.Digest, foldQueries)
			return func(r *rand.ChaCha8, out []int64) error {
				base, err := bloom.NewShape(bloom.Shape{M: foldCells, K: foldK})
				if err != nil {
					return err
				}
				base.AddAll(nil, sample.Digests(r, ds[:foldKeys]))
				for i, m := range sizes {
					f, err := bloom.Open(base.State().Clone())
					if err != nil {
						return err
					}
					if err := f.Fold(foldCells / m); err != nil {
						return err
					}
					out[i] = sample.FalsePositives(r, ds, foldQueries, f.Has)
				}
				return nil
			}, nil
		},
	}, max(5, r.Trials/4))
	if err != nil {
		return err
	}
	curve := chart.Series{Name: "(1-(1-1/m)^(kn))^k"}
	dots := chart.Series{Name: "measured", Measured: true}
	for i, m := range sizes {
		x := float64(m)
		curve.Points = append(curve.Points, chart.Point{X: x, Y: plan.Filter{M: m, K: foldK}.FPRate(foldKeys)})
		rate := piece.Scaled(got.Of(names[i]), 1./foldQueries)
		dots = rate.On(dots, x)
		r.Add(piece.Row{What: fmt.Sprintf("folded by %d to %d: rate", foldCells/m, m), Recomputed: plan.Filter{M: m, K: foldK}.FPRateExact(foldKeys), Measured: rate})
	}
	r.Draw(chart.Chart{
		Title: "Rates of folds of 40 320 cells, n = 1000, k = 4", X: "m", Y: "rate", LogX: true, LogY: true,
		Series: []chart.Series{curve, dots},
	})
	return nil
}
