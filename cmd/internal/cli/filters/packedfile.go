package filters

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// packedFile is a packed filter in its file. Queries decode the blocks that they need.
type packedFile struct {
	name string
	file *mapped.Filter
}

// Each implements [querier], for the verb has.
func (p packedFile) Each(_ context.Context, _ remote.Verb, batches iter.Seq2[[][]byte, error], answered func([][]byte, []uint64) error) error {
	var has []bool
	return inBatches(p.file.State().Hasher, batches, answered, func(ns []uint64, ds []umbel.Digest, _ [][]byte) error {
		has = slices.Grow(has[:0], len(ds))[:len(ds)]
		if err := p.file.HasAll(has, ds); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for i, yes := range has {
			ns[i] = AnswerOf(yes)
		}
		return nil
	})
}

// Keys implements [querier], for the verb has.
func (p packedFile) Keys(ctx context.Context, v remote.Verb, list [][]byte) ([]uint64, error) {
	return oneBatch(ctx, p, v, list)
}
