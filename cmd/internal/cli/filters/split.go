package filters

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
)

// AddSplitFlag adds --split.
func AddSplitFlag(cmd *cobra.Command, split *int) {
	cmd.Flags().IntVar(split, "split", 0, "the filter is split into this `NUMBER` of filters, which are on all nodes of a slot map; see docs/scale.md")
	cmd.Flags().Lookup("split").DefValue = ""
	spec.Group(cmd.Flags(), "Parts of a filter", "split")
}

// errSplitInFile is the error of --split without a node.
var errSplitInFile = errors.New("--split needs --addr: the filters of a split filter are on the nodes of a slot map")

// nodeFilter is a filter of a node, or a split filter on the nodes of its slot map.
type nodeFilter struct {
	node  *remote.Client
	name  string
	split int // number of filters, 0 for one that is not split
}

// open returns what queries the filter and adds to it, and its description.
func (f nodeFilter) open(ctx context.Context) (querier, remote.Info, error) {
	if f.split == 0 {
		q, in, err := f.node.Filter(ctx, f.name)
		return q, in, err
	}
	q, in, err := f.node.Split(ctx, f.name, f.split)
	return q, in, err
}

func (f nodeFilter) make(ctx context.Context, want api.FilterSpec) error {
	if f.split != 0 {
		return f.node.MakeSplit(ctx, f.name, f.split, want)
	}
	_, err := f.node.Make(ctx, f.name, want)
	return err
}

// made seals a filter of a kind that is sealed, and returns its description.
func (f nodeFilter) made(ctx context.Context) (remote.Info, error) {
	q, in, err := f.open(ctx)
	if err != nil || !slices.Contains(in.Can, operation.Seal.Name) {
		return in, err
	}
	if f.split == 0 {
		return f.node.Do(ctx, f.name, operation.Seal, umbel.Number{})
	}
	if err := q.(*remote.Split).Seal(ctx); err != nil {
		return in, err
	}
	_, in, err = f.open(ctx)
	return in, err
}

// undo deletes a filter that was made before a verb failed.
func (f nodeFilter) undo(ctx context.Context, failed error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	remove := f.node.Delete
	if f.split != 0 {
		remove = func(ctx context.Context, name string) error { return f.node.DeleteSplit(ctx, name, f.split) }
	}
	if err := remove(ctx, f.name); err != nil {
		return fmt.Errorf("%w; the incomplete filter %s could not be deleted: %w", failed, f.name, err)
	}
	return failed
}

// add adds keys and returns how many were acknowledged. On an error the nodes may have added more.
func (f nodeFilter) add(ctx context.Context, batches iter.Seq2[[][]byte, error]) (uint64, error) {
	q, _, err := f.open(ctx)
	if err != nil {
		return 0, err
	}
	var added uint64
	err = q.Each(ctx, remote.Add, batches, func(keys [][]byte, _ []uint64) error {
		added += uint64(len(keys))
		return nil
	})
	if e, ok := errors.AsType[*remote.Error](err); ok {
		added += e.Done
	}
	return added, err
}
