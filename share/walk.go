package share

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// walk fetches and applies the objects of a way, which begins with a snapshot or with what is held, and
// verifies the result. If it fails, it returns the number of the step that failed, or -1 if the result is not that of the head.
//
// The state is verified in any case, so the hash of a snapshot is computed only if something is
// damaged.
func (r *reacher) walk(ctx context.Context, h *Head, have held, way []step) (held, int, error) {
	w := walker{reacher: r, head: h, origin: have.origin}
	cost := uint64(0)
	for _, s := range way {
		if !w.origin.has(s.Ref) {
			cost += s.Bytes
		}
	}
	if err := r.pay(cost); err != nil {
		return held{}, 0, err
	}
	if len(way) > 0 && way[0].snapshot {
		have = held{}
	}
	got, failed, err := w.walk(ctx, have, way)
	if err == nil || !w.opened || !errors.Is(err, ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
		return got, failed, err
	}
	if w.verified = RefOf(w.snapshot) == way[0].Ref; w.verified && !errors.Is(err, umbel.ErrLimit) {
		return got, failed, err
	}
	if !w.verified {
		if w.snapshot, err = verify(ctx, r.source, way[0].Ref, w.snapshot); err != nil {
			return held{}, 0, err
		}
		w.verified = true
	}
	return w.walk(ctx, have, way)
}

// walker takes the steps of a way.
type walker struct {
	*reacher
	head     *Head
	opened   bool   // the first step is a snapshot, whose bytes could be read
	snapshot []byte // of which these have arrived and are kept
	verified bool   // the hash of the snapshot was verified
	origin   origin // a snapshot that need not be fetched
	local    bool   // the snapshot is that
}

// maxUpdates is the number of changes after a snapshot for which it takes less time to compare states than
// to hash the last one.
const maxUpdates = 3

func (w *walker) walk(ctx context.Context, have held, way []step) (held, int, error) {
	got := held{head: w.head, state: have.state, recipe: slices.Clone(have.recipe), origin: have.origin}
	for i, s := range way {
		if s.fold > 0 {
			var err error
			if got.state, err = foldState(w.kinds, got.state, s.fold); err != nil {
				return held{}, i, fmt.Errorf("share: the last version: %w", err)
			}
			got.recipe, got.origin, got.tree = nil, origin{}, nil
			continue
		}
		var data []byte
		err := w.check(s)
		if err == nil && s.snapshot {
			data, err = w.open(ctx, &got, s)
		} else if err == nil {
			before := got.state
			data, err = w.change(ctx, &got, s)
			if got.tree != nil && len(way) <= 1+maxUpdates && err == nil {
				got.tree.Update(before, got.state, w.limits.Workers)
			} else {
				got.tree = nil
			}
		}
		if err != nil {
			return held{}, i, err
		}
		if got.recipe = append(got.recipe, s); !s.snapshot || !w.local {
			w.fetched(s.Ref, data)
		}
	}
	if got.state.Kind == w.head.Kind && got.state.Bytes() == w.head.Bytes {
		if got.tree == nil {
			got.tree = w.identify(have, got.state)
		}
		if got.tree.ID() == w.head.ID {
			return got, 0, nil
		}
	}
	return held{}, -1, fmt.Errorf("share: version %d is another filter than its head states: %w", w.head.Version, ErrCorrupt)
}

// identify returns the tree of a state. If there is a state already, it hashes what changed.
func (r *reacher) identify(have held, s umbel.State) *wire.Tree {
	if have.tree == nil {
		return wire.NewTree(s, r.limits.Workers)
	}
	t := have.tree.Clone()
	t.Update(have.state, s, r.limits.Workers)
	return t
}

// check refuses an object that no state within the limits has: no container and no change is much
// longer than the arrays of its state.
func (r *reacher) check(s step) error {
	if limit := min(r.limits.Bytes, maxObject); s.Bytes > limit+limit/1024+1<<20 {
		return fmt.Errorf("share: object %s has %d bytes, the limit of memory is %d: %w", s.Hash, s.Bytes, limit, umbel.ErrLimit)
	}
	return nil
}

// open takes a snapshot. It is decoded and hashed while it arrives.
func (w *walker) open(ctx context.Context, got *held, s step) (data []byte, err error) {
	if w.snapshot == nil && w.origin.has(s.Ref) {
		w.snapshot = w.origin.read(ctx)
		w.local = w.snapshot != nil
		w.verified = w.local
	}
	got.recipe, got.origin = nil, origin{}
	if w.verified {
		got.state, got.tree, err = wire.ReadTree(bytes.NewReader(w.snapshot), s.Bytes, w.limits)
	} else {
		got.state, got.tree, err = w.read(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("share: object %s: %w", s.Hash, err)
	}
	if w.snapshot != nil {
		got.origin = origin{Ref: s.Ref, data: w.snapshot}
	}
	return w.snapshot, nil
}

// read reads a snapshot from the source. Before it is verified, it may need little more memory than the
// filter.
func (w *walker) read(ctx context.Context, s step) (state umbel.State, tree *wire.Tree, err error) {
	limits := w.limits
	limits.Bytes = min(limits.Bytes, w.head.Bytes+w.head.Bytes/4+1<<20)
	x := stream{ctx: ctx, source: w.source, ref: s.Ref, keep: w.keep}
	defer x.Close()
	if err = x.start(); err != nil {
		return state, nil, err
	}
	state, tree, err = wire.ReadTree(bufio.NewReaderSize(&x, streamBuffer), s.Bytes, limits)
	if x.failure != nil {
		return state, nil, x.failure
	}
	w.opened, w.snapshot = true, x.data
	return state, tree, err
}

// change takes a delta.
func (w *walker) change(ctx context.Context, got *held, s step) (data []byte, err error) {
	if data, err = fetch(ctx, w.source, s.Ref); err != nil {
		return nil, err
	}
	if got.state, err = (delta.Decoder{Limits: w.limits}).ApplyChange(got.state, data); err != nil {
		return nil, fmt.Errorf("share: object %s: %w", s.Hash, err)
	}
	return data, nil
}
