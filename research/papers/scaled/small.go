package scaled

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
)

// smallFilters are those with rates that p^k is wrong about, and two larger.
var smallFilters = []struct {
	m    uint64
	n, k int
}{
	{16, 4, 2}, {32, 8, 3}, {64, 8, 4}, {64, 8, 5}, {64, 16, 3}, {128, 20, 4}, {256, 32, 5}, {1000, 100, 7}, {8192, 1000, 5},
}

var small = piece.Piece{
	Name:  "001/small",
	Title: "P = p^k in small filters",
	Note: `
A single array's cells aren't independent: p^k is up to 7 % low below a hundred cells. The exact
rate is that of Bose et al. 2008. Of k slices p^k is exact in the mean, for every m.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		for _, c := range smallFilters {
			n := uint64(c.n)
			single, err := sample.Rate{
				Name: fmt.Sprintf("001 bloom m=%d k=%d n=%d", c.m, c.k, c.n), Keys: c.n,
				New: func() (sample.Filter, error) { return bloom.NewShape(bloom.Shape{M: c.m, K: c.k}) },
			}.Measure(ctx, r, r.Trials)
			if err != nil {
				return err
			}
			r.Add(
				piece.Row{What: fmt.Sprintf("m=%d, n=%d, k=%d: p", c.m, c.n, c.k), Recomputed: plan.Fill(c.m, c.k, n)},
				piece.Row{What: "p^k", Recomputed: plan.FPRate(c.m, c.k, n)},
				piece.Row{What: "exact", Recomputed: plan.FPRateExact(c.m, c.k, n), Measured: single},
			)
			if c.m%uint64(c.k) != 0 {
				continue
			}
			sliced, err := sample.Rate{
				Name: fmt.Sprintf("001 partitioned m=%d k=%d n=%d", c.m, c.k, c.n), Keys: c.n,
				New: func() (sample.Filter, error) { return partitioned.NewShape(partitioned.Shape{M: c.m, K: c.k}) },
			}.Measure(ctx, r, r.Trials)
			if err != nil {
				return err
			}
			r.Add(piece.Row{What: "p^k in slices", Recomputed: plan.PartitionedFPRate(c.m, c.k, n), Measured: sliced})
		}
		return nil
	},
}
