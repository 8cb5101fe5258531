package sample

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// Bloom measures the rate of standard filters of m cells, k of them per key, with n
// keys, in a quarter of a full simulation's trials. The simulation's name is the paper's
// number and theirs.
func Bloom(ctx context.Context, r *piece.Run, paper string, m uint64, k, n int) (piece.Measure, error) {
	return Rate{
		Name: fmt.Sprintf("%s bloom m=%d k=%d n=%d", paper, m, k, n),
		Keys: n,
		New:  func() (Filter, error) { return bloom.NewShape(bloom.Shape{M: m, K: k}) },
	}.Measure(ctx, r, max(5, r.Trials/4))
}
