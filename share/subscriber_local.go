package share

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// local is a version that a subscriber has: a verified state, and the objects that lead to it. The zero local is
// no version.
type local struct {
	head  *Head
	state umbel.State
	tree  *hashtree.Tree // of the state
	// compact is the state of a bloom filter with k = 1 as a list of positions. Then state and tree are empty.
	compact *sparse.Filter
	// objects lead to the state: a snapshot and changes. After a fold the snapshot is missing.
	objects []object
	// base is the snapshot with which the path to the state began, if it need not be fetched again.
	base baseSnapshot
}

// packed returns l without the state and the tree if its compact form replaces them.
func (l local) packed() local {
	if l.compact != nil {
		l.state, l.tree = umbel.State{}, nil
	}
	return l
}

// unpacked returns l with its state.
func (l local) unpacked() (local, error) {
	if l.compact == nil {
		return l, nil
	}
	state, err := l.compact.Bloom()
	if err != nil {
		return local{}, fmt.Errorf("the last version: %w", err)
	}
	l.state, l.compact = state, nil
	return l, nil
}

// baseSnapshot is a snapshot that a subscriber has: its bytes, or the cache that contains them.
type baseSnapshot struct {
	Ref
	data  []byte
	cache Source
}

// has reports whether the snapshot is that of a reference.
func (b *baseSnapshot) has(r Ref) bool { return b.Ref == r && (b.data != nil || b.cache != nil) }

// read returns the snapshot, and nil if it is damaged.
func (b *baseSnapshot) read(ctx context.Context) []byte {
	if b.data != nil && RefOf(b.data) == b.Ref {
		return b.data
	}
	if b.cache == nil {
		return nil
	}
	data, _ := fetch(ctx, b.cache, b.Ref)
	return data
}

// start returns the version as the start of paths to a head, and nil if no path to the head begins with it: if the
// publisher was set back, even to the same version, or if the class of the head is finer. The state of a finer
// class is folded.
func (l *local) start(h *Head) *pathStart {
	if l.head == nil || l.head.Stream != h.Stream || l.head.Version > h.Version || h.Fold%l.head.Fold != 0 {
		return nil
	}
	s := &pathStart{version: l.head.Version}
	if fold := h.Fold / l.head.Fold; fold > 1 {
		s.path.fold = fold
	} else if l.head.Version == h.Version {
		return nil
	}
	return s
}

// direct returns the path from a start by a delta of a head. It returns false if the head has no such delta.
func (s *pathStart) direct(h *Head) (path, bool) {
	if s == nil {
		return path{}, false
	}
	missed := h.Version - s.version
	if missed == 0 {
		return s.path, true
	}
	if missed > uint64(len(h.Deltas)) {
		return path{}, false
	}
	return s.path.then(object{Ref: h.Deltas[missed-1], to: h.Version}), true
}

// starts returns the starts of paths to a head: the local version as start, the snapshots of an index, and the
// refinements of the coarser classes. A snapshot that the subscriber has costs nothing.
func (l *local) starts(h *Head, x *Index, start *pathStart) []pathStart {
	all := snapshotStarts(x.Snapshots)
	if start != nil {
		all = append(all, *start)
	}
	// From the coarsest class on, to each class by its own snapshot or from the one before it.
	var best *pathStart
	for _, r := range slices.Backward(x.Refinements) {
		own := pathStart{}.then(object{Ref: r.Snapshot, to: r.Version, snapshot: true})
		switch {
		case l.head != nil && l.head.Stream == h.Stream && l.head.Fold == r.Fold && l.head.Version == r.Version:
			own = pathStart{version: r.Version}
		case l.base.has(r.Snapshot):
			own.bytes = 0
		}
		if r.Snapshot.Bytes <= maxObject && (best == nil || own.bytes <= best.bytes) {
			best = &own
		}
		if r.Bytes > maxObject {
			best = nil
		}
		if best != nil {
			next := best.then(object{Ref: r.Ref, to: r.Version})
			best = &next
		}
	}
	if best != nil {
		all = append(all, *best)
	}
	return all
}
