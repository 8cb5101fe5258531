package folds

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// foundAt returns how many of the m hashes below m are looked for where a fold put
// them: at h mod size.
func foundAt(m, size uint64, at func(h uint64) uint64) (right int) {
	for h := range m {
		if at(h) == h%size {
			right++
		}
	}
	return right
}

const lost, equal = "lost", "equal"

// equation6 says where a folded filter is asked.
var equation6 = piece.Piece{
	Name:  "000/equation-6",
	Title: "Equation (6): where a folded filter is asked",
	Note: `
Printed is h mod the product of the factors, in the text h mod the one and then the other;
right is h mod m_t, with m_t = m_1 divided by the product. Of the 50 hashes of Figure 1's
filter so many come to the right place. Each that doesn't is a key lost, where the other
place is empty. umbel's filters of 50 cells were folded in the same way and asked for their
keys: 5 keys with k=2.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		by5 := func(h uint64) uint64 { return h % 5 }
		r.Add(
			piece.Row{What: "folded by 5: hashes of 50 that (6) takes to their place", Recomputed: float64(foundAt(50, 10, by5))},
			piece.Row{What: "folded by 5 and 2", Recomputed: float64(foundAt(50, 5, func(h uint64) uint64 { return h % 10 }))},
			piece.Row{What: "the same, as nested in the text", Recomputed: float64(foundAt(50, 5, func(h uint64) uint64 { return h % 5 % 2 }))},
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

// lemma checks equation (5), and what Table II says of costs.
var lemma = piece.Piece{
	Name:  "000/table-2",
	Title: "Table II and the lemma: folds in sequence",
	Note: `
Folding by factors in sequence, in any order, is folding by their product: equation (5) and
the theorem. A sequence of f folds reads m(1 + 1/g_1 + 1/(g_1 g_2) + ...) cells, less than 2m however
long it is, where Table II has O(f·m); for two, the text has m(1 + 1/p_l), where p_r, which
comes first, is meant. An unfolding is one fold of the first filter, which must have been
kept, with all later keys added. 400 keys, k=3, in 900 cells.`,
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
				piece.Row{What: "filters that are those built at m/30", Recomputed: float64(got.Trials),
					Measured: piece.Counted(total(got.Of(equal)), got.Trials)},
			)
		}
		r.Add(piece.Row{What: "by 2 twenty times", Printed: "O(20m)", Recomputed: cellsRead(twenties(2)...), Mark: "below 2"})
		return nil
	},
}

// cellsRead returns how many cells folds by these factors read, in sizes of the first
// filter.
func cellsRead(factors ...uint64) (sum float64) {
	size := 1.0
	for _, g := range factors {
		sum += size
		size /= float64(g)
	}
	return sum
}

// twenties returns twenty times the same factor.
func twenties(factor uint64) []uint64 {
	fs := make([]uint64, 20)
	for i := range fs {
		fs[i] = factor
	}
	return fs
}

// folded is the simulation of filters of m cells and n keys that are folded by factors
// in sequence: how many keys are lost, and whether the result is the filter built
// small.
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

// total returns the sum of a tally's values.
func total(t trial.Tally) (sum int) {
	for v, times := range t {
		sum += int(v * times)
	}
	return sum
}
