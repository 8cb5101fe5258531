package share

import (
	"context"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

// held is a verified state. The zero held is none.
type held struct {
	head  *Head
	state umbel.State
	tree  *wire.Tree // of the state
	// compact is the state of a bloom filter with k = 1 as a list of positions. Then state and tree
	// are empty.
	compact *sparse.Filter
	// pack is the packed container of the state, if a fold of it answers. Then state and tree are
	// empty, too.
	pack []byte
	// recipe are the objects that lead to the state: a snapshot and changes. After a fold the snapshot is
	// missing.
	recipe []step
	// origin is the snapshot with which the way to the state began, if that need not be fetched again.
	origin origin
}

// packed returns h without what its compact or packed form contains.
func (h held) packed() held {
	if h.compact != nil || h.pack != nil {
		h.state, h.tree = umbel.State{}, nil
	}
	return h
}

// origin is a snapshot that a subscriber has: its bytes, or the cache that contains them.
type origin struct {
	Ref
	data  []byte
	cache Source
}

// has reports whether the snapshot is that of a reference.
func (o *origin) has(r Ref) bool { return o.Ref == r && (o.data != nil || o.cache != nil) }

// read returns the snapshot, and nil if it is damaged.
func (o *origin) read(ctx context.Context) []byte {
	if o.data != nil && RefOf(o.data) == o.Ref {
		return o.data
	}
	if o.cache == nil {
		return nil
	}
	data, _ := fetch(ctx, o.cache, o.Ref)
	return data
}

// base returns what is held as the start of ways to a head, and nil if it is none. If the publisher was set
// back, it is none even if it has the same version. A state of a finer class is folded.
func (have *held) base(h *Head) *start {
	if have.head == nil || have.head.Stream != h.Stream || have.head.Version > h.Version || h.Fold%have.head.Fold != 0 {
		return nil
	}
	b := &start{version: have.head.Version}
	if fold := h.Fold / have.head.Fold; fold > 1 {
		b.steps = []step{{to: b.version, fold: fold}}
	} else if have.head.Version == h.Version {
		return nil
	}
	return b
}

// direct returns the way from a base by a delta of a head, and nil if there is none.
func (b *start) direct(h *Head) []step {
	if b == nil {
		return nil
	}
	missed := h.Version - b.version
	if missed == 0 {
		return b.steps
	}
	if missed > uint64(len(h.Deltas)) {
		return nil
	}
	return b.then(step{Ref: h.Deltas[missed-1], to: h.Version}).steps
}

// starts returns the starts of ways to a head: the base, the snapshots of an index, and the refinements of
// the coarser classes. A snapshot that the subscriber has costs nothing.
func (have *held) starts(h *Head, x *Index, base *start) []start {
	all := startsOf(x.Snapshots)
	if base != nil {
		all = append(all, *base)
	}
	// From the coarsest class on, to each class by its own snapshot or from the one before it.
	var best *start
	for _, r := range slices.Backward(x.Refinements) {
		own := start{}.then(step{Ref: r.Snapshot, to: r.Version, snapshot: true})
		switch {
		case have.head != nil && have.head.Stream == h.Stream && have.head.Fold == r.Fold && have.head.Version == r.Version:
			own = start{version: r.Version}
		case have.origin.has(r.Snapshot):
			own.bytes = 0
		}
		if r.Snapshot.Bytes <= maxObject && (best == nil || own.bytes <= best.bytes) {
			best = &own
		}
		if r.Bytes > maxObject {
			best = nil
		}
		if best != nil {
			next := best.then(step{Ref: r.Ref, to: r.Version})
			best = &next
		}
	}
	if best != nil {
		all = append(all, *best)
	}
	return all
}
