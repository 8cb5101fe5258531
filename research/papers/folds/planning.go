package folds

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// coverage returns the share of the numbers of keys from 1 to n for which a size of
// the ladder is in the interval, and by how much the fold is larger than the least
// size that is, in the mean over them.
func coverage(ladder []uint64, n uint64, k int, rho, eps float64) (inside, waste float64, err error) {
	for keys := uint64(1); keys <= n; keys++ {
		size, in := plan.FoldTarget(ladder, keys, k, rho, eps)
		if in {
			inside++
		}
		least, err := plan.SizeForK(keys, k, rho+eps)
		if err != nil {
			return 0, 0, err
		}
		waste += float64(size)/float64(least) - 1
	}
	return inside / float64(n), waste / float64(n), nil
}

var planning = piece.Piece{
	Name:  "000/planning",
	Title: "Section IV: a size to fold from, as the paper plans it",
	Note: `
The paper wants a number with many divisors in the interval of equation (14) for the most
keys: here the one with the most, the least of those. For 1 to n keys: how often a divisor is
in the interval of so many keys, and how much larger than its lower end the fold is, in the
mean. Beside it stands the next power of two, which folds to fewer sizes.`,
	Make: func(_ context.Context, r *piece.Run) error {
		for _, b := range bands {
			if b.k == 2 && b.n != 1000 {
				continue
			}
			low, high, err := plan.SizeInterval(uint64(b.n), b.k, b.rho, b.eps)
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
				inside, waste, err := coverage(plan.Ladder(base, 1), uint64(b.n), b.k, b.rho, b.eps)
				if err != nil {
					return err
				}
				r.Add(
					piece.Row{What: fmt.Sprintf("from %d: a size is inside, %%", base), Recomputed: 100 * inside},
					piece.Row{What: "folds too large by, %", Recomputed: 100 * waste},
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
What the paper hasn't: a base several times as large as its keys need has divisors close to
every size. n=1000, k=4, ρ = 0.01 ± 0.002; the folds' excess is the mean over 1 to n keys. The
memory is paid where the keys are, and what is sent is the fold. 12 is what umbel plans with.`,
	Make: func(_ context.Context, r *piece.Run) error {
		b := bands[1]
		for _, times := range []float64{1, 2, 3, 4, 6, 8, 12, 16, 24} {
			m, err := plan.BaseSize(uint64(b.n), b.k, b.rho, b.eps, times)
			if err != nil {
				return err
			}
			inside, waste, err := coverage(plan.Ladder(m, 1), uint64(b.n), b.k, b.rho, b.eps)
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("%g times: %d cells, divisors", times, m), Recomputed: float64(number.CountDivisors(m))},
				piece.Row{What: "a size is inside, %", Recomputed: 100 * inside},
				piece.Row{What: "folds too large by, %", Recomputed: 100 * waste},
			)
		}
		for _, m := range []uint64{1 << 20, 1e6, 720_720, 997_920} {
			r.Add(piece.Row{What: fmt.Sprintf("base of %d: folds too large by, %%, sizes evenly on a logarithmic scale", m), Recomputed: 100 * plan.MeanOvershoot(plan.Ladder(m, 1))})
		}
		return nil
	},
}
