package folds

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// The base, which is sent folded by 3 and by 4.
const (
	twoCells, twoKeys, twoK = 36_000, 1000, 2
	twoQueries              = 20_000
)

// The filters that are queried.
const (
	byThree, byFour = "by 3", "by 4"
	both            = "both"
	inOrder3        = "both, order of (3)"
	whole           = "whole"
)

var twoFolds = piece.Piece{
	Name:  "000/two-folds",
	Title: "Section IV-C: several folds of one filter",
	Note: `
"Changing the folding with each transmission increases the entropy", according to the paper: a
receiver that has a fold by 3 and a fold by 4 queries both. That lowers the rate, but not to the
product of both rates, because both folds contain the same keys. In the order of equation (3),
the two folds of a cell share only that cell; in umbel's order, neighboring cells are folded
together and the two folds share more. In either case, a filter of as many bits with the best k
has a lower rate, and the compressed base is smaller and has a lower rate. 36000 cells, 1000
keys, k = 2.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		got, err := r.Simulate(ctx, bothFolds, max(5, r.Trials/10))
		if err != nil {
			return err
		}
		rate := func(value string) piece.Measure { return piece.Scaled(got.Of(value), 1./twoQueries) }
		single := func(m uint64, k int) float64 { return plan.Filter{M: m, K: k}.FPRate(twoKeys) }
		same, err := sample.Bloom(ctx, r, "000", 21_000, twoK, twoKeys)
		if err != nil {
			return err
		}
		best, err := sample.Bloom(ctx, r, "000", 21_000, 4, twoKeys)
		if err != nil {
			return err
		}
		r.Add(
			piece.Row{What: "folded by 3, 12000 bits: rate", Recomputed: single(twoCells/3, twoK), Measured: rate(byThree)},
			piece.Row{What: "folded by 4, 9000 bits", Recomputed: single(twoCells/4, twoK), Measured: rate(byFour)},
			piece.Row{What: "their product, if they were independent", Recomputed: single(twoCells/3, twoK) * single(twoCells/4, twoK)},
			piece.Row{What: "both, 21000 bits, in the order of equation (3)", Recomputed: joined([]int{1}), Measured: rate(inOrder3)},
			piece.Row{What: "both, in umbel's order", Recomputed: joined(neighbors(3, 4)), Measured: rate(both)},
			piece.Row{What: "one filter of 21000 bits, k=2", Recomputed: single(21_000, twoK), Measured: same},
			piece.Row{What: "one filter of 21000 bits, k=4", Recomputed: single(21_000, 4), Measured: best},
			piece.Row{What: "the base, 36000 bits", Recomputed: single(twoCells, twoK), Measured: rate(whole)},
			piece.Row{What: "the base compressed: bits", Recomputed: plan.Filter{M: twoCells, K: twoK}.WireBits(twoKeys).Mean},
		)
		return nil
	},
}

// joined returns the rate if a query must be positive in the fold by 3 and in the fold
// by 4. The cells folded together with a cell in one fold and in the other have some
// cells in common, at least the cell itself. common lists their numbers, each as often
// as it occurs.
func joined(common []int) float64 {
	empty := func(cells int) float64 {
		return math.Pow(1-plan.Filter{M: twoCells, K: twoK}.Fill(twoKeys), float64(cells))
	}
	sum := 0.0
	for _, c := range common {
		sum += 1 - empty(3) - empty(4) + empty(3+4-c)
	}
	return math.Pow(sum/float64(len(common)), twoK)
}

// neighbors returns, for each cell of a period, how many cells are folded together with
// it in both folds, if one fold joins r neighboring cells and the other s.
func neighbors(r, s int) []int {
	common := make([]int, r*s)
	for c := range common {
		a, b := c/r*r, c/s*s
		common[c] = min(a+r, b+s) - max(a, b)
	}
	return common
}

// bothFolds is a simulation that queries two folds of one base together.
var bothFolds = trial.Simulation{
	Name: "000 two folds", Values: []string{byThree, byFour, both, inOrder3, whole},
	Worker: func() (trial.Trial, error) {
		base, err := bloom.NewShape(bloom.Shape{M: twoCells, K: twoK})
		if err != nil {
			return nil, err
		}
		ds := make([]umbel.Digest, twoKeys)
		return func(r *rand.ChaCha8, out []int64) error {
			base.Clear()
			base.AddAll(nil, sample.Digests(r, ds))
			three, four := base.Clone(), base.Clone()
			if err := errors.Join(three.Fold(3), four.Fold(4)); err != nil {
				return err
			}
			bothHave := func(d umbel.Digest) bool { return three.Has(d) && four.Has(d) }
			has := []func(umbel.Digest) bool{three.Has, four.Has, bothHave, asPrinted(ds), base.Has}
			for i := range out {
				out[i] = sample.FalsePositives(r, ds, twoQueries, has[i])
			}
			return nil
		}, nil
	},
}

// asPrinted returns a function that queries both folds of a filter of the keys ds in the
// order of equation (3), which folds cells together that are a third, or a fourth, of
// the base apart. The two halves of a digest are the hashes.
func asPrinted(ds []umbel.Digest) func(umbel.Digest) bool {
	const third, fourth = twoCells / 3, twoCells / 4
	three, four := make([]bool, third), make([]bool, fourth)
	for _, d := range ds {
		for _, h := range []uint64{d.H1, d.H2} {
			h %= twoCells
			three[h%third], four[h%fourth] = true, true
		}
	}
	return func(d umbel.Digest) bool {
		a, b := d.H1%twoCells, d.H2%twoCells
		return three[a%third] && four[a%fourth] && three[b%third] && four[b%fourth]
	}
}
