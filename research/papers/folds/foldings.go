package folds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// foundAt returns how many of the hashes 0 to m-1 the function at maps to the cell to
// which a fold maps them: h mod size.
func foundAt(m, size uint64, at func(h uint64) uint64) (right int) {
	for h := range m {
		if at(h) == h%size {
			right++
		}
	}
	return right
}

const lost, equal = "lost", "equal"

// equation6 compares the cells that queries of a folded filter look at.
var equation6 = piece.Piece{
	Name:  "000/equation-6",
	Title: "Equation (6): which cells of a folded filter are queried",
	Note: `
Printed is h mod the product of the factors, and in the text h mod one factor and then mod the
other; right is h mod m_t, where m_t is m_1 divided by the product. The rows count how many of
the 50 hashes of Figure 1's filter are mapped to the right cell. A query that looks at another
cell gives a false negative if that cell is empty. In the last row, umbel's filters of 50 cells
with 5 keys and k=2 were folded by 5 and 2 and queried for their keys.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		by5 := func(h uint64) uint64 { return h % 5 }
		r.Add(
			piece.Row{What: "folded by 5: right cells of 50 by (6)", Recomputed: float64(foundAt(50, 10, by5))},
			piece.Row{What: "folded by 5 and 2", Recomputed: float64(foundAt(50, 5, func(h uint64) uint64 { return h % 10 }))},
			piece.Row{What: "the same with the nested mods of the text", Recomputed: float64(foundAt(50, 5, func(h uint64) uint64 { return h % 5 % 2 }))},
		)
		const keys = 5
		got, err := r.Simulate(ctx, folded(50, 2, keys, 5, 2), r.Trials)
		if err != nil {
			return err
		}
		r.Add(piece.Row{What: "keys lost by umbel", Measured: piece.Counted(total(got.Of(lost)), got.Trials*keys)})
		return nil
	},
}

// lemma checks equation (5) and the costs of Table II.
var lemma = piece.Piece{
	Name:  "000/table-2",
	Title: "Table II and the lemma: folds in sequence",
	Note: `
Folding by several factors in any order equals folding by their product: equation (5) and the
theorem. f folds read m(1 + 1/g_1 + 1/(g_1 g_2) + ...) cells, which is less than 2m for any f;
Table II has O(f·m). For two folds, the text has m(1 + 1/p_l), but p_r comes first. Unfolding is
one fold of the original filter, which must be kept and receive all later keys. 400 keys, k=3,
900 cells.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		orders := [][]uint64{{2, 3, 5}, {2, 5, 3}, {3, 2, 5}, {3, 5, 2}, {5, 2, 3}, {5, 3, 2}}
		for _, order := range orders {
			got, err := r.Simulate(ctx, folded(900, 3, 400, order...), max(5, r.Trials/10))
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("by %d, then %d, then %d: cells read, in m", order[0], order[1], order[2]),
					Printed: "O(3m)", Recomputed: cellsRead(order...), Mark: "below 2"},
				piece.Row{What: "filters equal to those built with m/30 cells", Recomputed: float64(got.Trials),
					Measured: piece.Counted(total(got.Of(equal)), got.Trials)},
			)
		}
		r.Add(piece.Row{What: "by 2 twenty times", Printed: "O(20m)", Recomputed: cellsRead(twenties(2)...), Mark: "below 2"})
		return nil
	},
}

// cellsRead returns how many cells the folds by these factors read, divided by the
// number of cells of the first filter.
func cellsRead(factors ...uint64) (sum float64) {
	size := 1.0
	for _, g := range factors {
		sum += size
		size /= float64(g)
	}
	return sum
}

// twenties returns a slice of twenty equal factors.
func twenties(factor uint64) []uint64 { return slices.Repeat([]uint64{factor}, 20) }

// folded returns a simulation that folds filters of m cells and n keys by factors in
// sequence. It counts the lost keys and the results that equal the filter built at that
// size.
func folded(m uint64, k, n int, factors ...uint64) trial.Simulation {
	return trial.Simulation{
		Name: fmt.Sprintf("000 folded m=%d k=%d n=%d by %v", m, k, n, factors), Values: []string{lost, equal},
		Worker: func() (trial.Trial, error) {
			ds := make([]umbel.Digest, n)
			return func(r *rand.ChaCha8, out []int64) error {
				f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
				if err != nil {
					return err
				}
				f.AddAll(nil, sample.Digests(r, ds))
				for _, g := range factors {
					if err := f.Fold(g); err != nil {
						return err
					}
				}
				small, err := bloom.NewShape(f.Shape())
				if err != nil {
					return err
				}
				small.AddAll(nil, ds)
				out[0], out[1] = 0, 0
				for _, d := range ds {
					if !f.Has(d) {
						out[0]++
					}
				}
				if f.State().Arrays[0].Equal(small.State().Arrays[0]) {
					out[1] = 1
				}
				return nil
			}, nil
		},
	}
}

// total returns the sum of the values of a tally.
func total(t trial.Tally) (sum int) {
	for v, times := range t {
		sum += int(v * times)
	}
	return sum
}

var selfFolding = piece.Piece{
	Name:  "000/self-folding",
	Title: "A filter that folds by itself",
	Note: `
umbel's folding filter while keys are added: a base for 1000 keys, k = 4, 12 times as large as
needed, kept at ρ = 0.01 ± 0.002. If one more key would take a fold above the interval, the
filter uses the next larger fold. *Recomputed* is the filter's own forecast: the average over
the folds that filters may use with n keys. From 65 keys on it assumes that a filter that is fuller
than average is so by equally many standard deviations at every size. Folds of a few hundred
cells deviate more independently than that, and the filter uses the smallest one that fits. So
the forecast is too high by 0.7 % at n = 100, which is the difference of -3.7 σ. Below 65 keys it
is a mean of this assumption and that of independent sizes, and 0.7 % too high at n = 50.
A simulation of positions without umbel's filter gives the measured rates:
TestSmallFolds in research/papers/folds.`,
	Make: makeSelfFolding,
}

func makeSelfFolding(ctx context.Context, r *piece.Run) error {
	const queries = 20_000
	b := bands[1]
	m, err := plan.Interval{K: b.k, FPRate: b.rho, Eps: b.eps}.Base(uint64(b.n), 0)
	if err != nil {
		return err
	}
	shape, err := folding.Shape{M: m, K: b.k}.Keep(b.rho, b.eps)
	if err != nil {
		return err
	}
	var at []int
	var names []string
	for n := 50; n <= b.n; n += 50 {
		at, names = append(at, n), append(names, fmt.Sprintf("n=%d", n))
	}
	got, err := r.Simulate(ctx, trial.Simulation{
		Name: "000 face", Values: names, // the name determines the seeds
		Worker: func() (trial.Trial, error) {
			keys, others := make([]umbel.Digest, b.n), make([]umbel.Digest, 1000)
			f, err := folding.NewShape(shape)
			if err != nil {
				return nil, err
			}
			return func(r *rand.ChaCha8, out []int64) error {
				f.Clear()
				for i, d := range sample.Digests(r, keys) {
					f.Add(d)
					if n := i + 1; n%50 == 0 {
						out[n/50-1] = sample.FalsePositives(r, others, queries, f.Has)
					}
				}
				return nil
			}, nil
		},
	}, max(5, r.Trials/10))
	if err != nil {
		return err
	}
	limit := func(name string, rate float64) chart.Series {
		return chart.Series{Name: name, Color: 1, Points: []chart.Point{{Y: rate}, {X: float64(b.n), Y: rate}}}
	}
	curve, dots := chart.Series{Name: "formula"}, chart.Series{Name: "measured", Measured: true, Color: 2}
	for n := 10; n <= b.n; n += 2 {
		curve.Points = append(curve.Points, chart.Point{X: float64(n), Y: shape.Forecast(uint64(n)).FPRate})
	}
	for i, n := range at {
		rate := piece.Scaled(got.Of(names[i]), 1./queries)
		dots = rate.On(dots, float64(n))
		r.Add(piece.Row{What: fmt.Sprintf("n=%d, %d cells: rate", n, shape.FoldedSize(uint64(n))), Recomputed: shape.Forecast(uint64(n)).FPRate, Measured: rate})
	}
	r.Draw(chart.Chart{
		Title: fmt.Sprintf("A base of %d cells, kept at 0.01 ± 0.002", m), X: "n", Y: "rate", Left: true, Low: true,
		Series: []chart.Series{limit("ρ+ε", b.rho+b.eps), limit("ρ-ε", b.rho-b.eps), curve, dots},
	})
	return nil
}
