package share

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// applier fetches the objects of a path and applies them.
type applier struct {
	source  Source
	limits  wire.Limits
	kinds   umbel.Kinds              // for folds
	afford  func(bytes uint64) error // called before objects are fetched; nil permits all
	arrived func(r Ref, data []byte) // called with each object of a path that arrives; nil ignores it
	keep    bool                     // the bytes of snapshots are needed later
}

// apply fetches and applies the objects of a path, which begins with a snapshot or with a local version, and verifies
// the result. If it fails, it returns the number of the object that failed, or -1 if the local state cannot be folded
// or the result is not that of the head.
//
// The state is verified in any case, so the hash of a snapshot is computed only if something is damaged.
func (a *applier) apply(ctx context.Context, h *Head, from local, p path) (local, int, error) {
	x := attempt{applier: a, head: h, base: from.base}
	cost := uint64(0)
	for _, o := range p.objects {
		if !x.base.has(o.Ref) {
			cost += o.Bytes
		}
	}
	if err := a.pay(cost); err != nil {
		return local{}, 0, err
	}
	if !p.isLocal() {
		from = local{}
	}
	got, failed, err := x.run(ctx, from, p)
	if err == nil || !x.opened || !errors.Is(err, ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
		return got, failed, err
	}
	snapshot := p.objects[0].Ref
	if x.verified = RefOf(x.snapshot) == snapshot; x.verified && !errors.Is(err, umbel.ErrLimit) {
		return got, failed, err
	}
	if !x.verified {
		if x.snapshot, err = verify(ctx, a.source, snapshot, x.snapshot); err != nil {
			return local{}, 0, err
		}
		x.verified = true
	}
	return x.run(ctx, from, p)
}

// pay returns an error wrapping ErrBudget if bytes must not be fetched now.
func (a *applier) pay(bytes uint64) error {
	if a.afford == nil {
		return nil
	}
	return a.afford(bytes)
}

// attempt applies a path once, or twice if the snapshot was damaged on the way.
type attempt struct {
	*applier
	head     *Head
	opened   bool         // the first object is a snapshot, whose bytes could be read
	snapshot []byte       // its bytes that have arrived and are kept
	verified bool         // the hash of the snapshot was verified
	base     baseSnapshot // a snapshot that need not be fetched
	isLocal  bool         // the snapshot is that
}

// maxUpdates is the number of changes after a snapshot for which it takes less time to compare states than
// to hash the last one.
const maxUpdates = 3

func (x *attempt) run(ctx context.Context, from local, p path) (local, int, error) {
	got := local{head: x.head, state: from.state, objects: slices.Clone(from.objects), base: from.base}
	if p.fold > 0 {
		var err error
		if got.state, err = foldState(x.kinds, got.state, p.fold); err != nil {
			return local{}, -1, fmt.Errorf("the last version: %w", err)
		}
		got.objects, got.base = nil, baseSnapshot{}
	}
	for i, o := range p.objects {
		var data []byte
		err := x.check(o)
		if err == nil && o.snapshot {
			data, err = x.open(ctx, &got, o)
		} else if err == nil {
			before := got.state
			data, err = x.change(ctx, &got, o)
			if got.tree != nil && len(p.objects) <= 1+maxUpdates && err == nil {
				got.tree.Update(before, got.state, x.limits.Workers)
			} else {
				got.tree = nil
			}
		}
		if err != nil {
			return local{}, i, err
		}
		if got.objects = append(got.objects, o); x.arrived != nil && (!o.snapshot || !x.isLocal) {
			x.arrived(o.Ref, data)
		}
	}
	if got.state.Kind == x.head.Kind && got.state.Bytes() == x.head.Bytes {
		if got.tree == nil {
			got.tree = x.identify(from, got.state)
		}
		if got.tree.ID() == x.head.ID {
			return got, 0, nil
		}
	}
	return local{}, -1, sentinel.Errorf(ErrCorrupt, "version %d is another filter than its head states", x.head.Version)
}

// identify returns the tree of a state. If there is a local state, it hashes what differs.
func (a *applier) identify(from local, s umbel.State) *hashtree.Tree {
	if from.tree == nil {
		return hashtree.New(s, a.limits.Workers)
	}
	t := from.tree.Clone()
	t.Update(from.state, s, a.limits.Workers)
	return t
}

// check refuses an object that leads to no state within the limits: no container and no change is much
// longer than the arrays of its state.
func (a *applier) check(o object) error {
	if limit := min(a.limits.Bytes, maxObject); o.Bytes > limit+limit/1024+1<<20 {
		return sentinel.Errorf(umbel.ErrLimit, "object %s has %d bytes, the limit of memory is %d", o.Hash, o.Bytes, limit)
	}
	return nil
}

// open takes a snapshot. It is decoded and hashed while it arrives.
func (x *attempt) open(ctx context.Context, got *local, o object) (data []byte, err error) {
	if x.snapshot == nil && x.base.has(o.Ref) {
		x.snapshot = x.base.read(ctx)
		x.isLocal = x.snapshot != nil
		x.verified = x.isLocal
	}
	got.objects, got.base = nil, baseSnapshot{}
	if x.verified {
		got.state, got.tree, err = hashtree.Read(bytes.NewReader(x.snapshot), o.Bytes, x.limits)
	} else {
		got.state, got.tree, err = x.read(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", o.Hash, err)
	}
	if x.snapshot != nil {
		got.base = baseSnapshot{Ref: o.Ref, data: x.snapshot}
	}
	return x.snapshot, nil
}

// read reads a snapshot from the source. Before it is verified, it may need little more memory than the
// filter.
func (x *attempt) read(ctx context.Context, o object) (state umbel.State, tree *hashtree.Tree, err error) {
	limits := x.limits
	limits.Bytes = min(limits.Bytes, x.head.Bytes+x.head.Bytes/4+1<<20)
	r := stream{ctx: ctx, source: x.source, ref: o.Ref, keep: x.keep}
	defer r.Close()
	if err = r.start(); err != nil {
		return state, nil, err
	}
	state, tree, err = hashtree.Read(bufio.NewReaderSize(&r, streamBuffer), o.Bytes, limits)
	if r.failure != nil {
		return state, nil, r.failure
	}
	x.opened, x.snapshot = true, r.data
	return state, tree, err
}

// change takes a delta.
func (x *attempt) change(ctx context.Context, got *local, o object) (data []byte, err error) {
	if data, err = fetch(ctx, x.source, o.Ref); err != nil {
		return nil, err
	}
	if got.state, err = (delta.Decoder{Limits: x.limits}).ApplyChange(got.state, data); err != nil {
		return nil, fmt.Errorf("object %s: %w", o.Hash, err)
	}
	return data, nil
}
