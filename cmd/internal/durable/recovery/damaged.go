package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/event"
)

// previousCatalog reads the entries of the previous snapshot instead of the last one, which is
// unreadable.
func (r *restorer) previousCatalog(ctx context.Context, why error) ([][]byte, error) {
	last, previous := r.set.Current, r.set.Previous
	r.set.Current, r.set.Previous = previous, nil
	r.damaged = true
	if previous != nil {
		entries, err := r.catalog(ctx, previous)
		if err == nil {
			r.o.Log.Warn("last snapshot unreadable; using the previous one", event.DamageRepaired, "error", why)
			r.use(previous)
			r.usedPrevious = true
			return entries, nil
		}
		r.set.Current = nil
		why = errors.Join(why, err)
		if !r.isDamage(err) {
			return nil, why
		}
	}
	if previous == nil && r.logIsWhole(ctx) {
		r.o.Log.Warn("last snapshot unreadable; using the whole log", event.DamageRepaired, "error", why)
		r.useWholeLog()
		return nil, nil
	}
	r.losses.missNames(0)
	return nil, r.losses.add("the catalog of the snapshot of %v: those of its %d filters that the log does not create are gone: %w",
		last.Time(), last.Filters, why)
}

// olderFilter restores a filter whose copy in the last snapshot is damaged: from the previous snapshot,
// with more of the log, or from the log alone if it is younger than that.
func (r *restorer) olderFilter(ctx context.Context, m engine.Meta, segments []snapshot.Reference, why error) error {
	older, readable, err := r.olderEntry(ctx, m.ID)
	switch {
	case err != nil:
		return fmt.Errorf("filter %q: %w", m.Name, errors.Join(why, err))
	case older != nil:
		was, olderSegments, err := snapshot.ReadEntry(older, Limits())
		if err == nil {
			err = r.fill(ctx, was, olderSegments, r.set.Previous)
		}
		if err == nil {
			r.o.Log.Warn("last snapshot of a filter unreadable; using the previous one", event.DamageRepaired, "filter", m.Name, "error", why)
			r.useOlder()
			return nil
		}
		if !r.isDamage(err) {
			return fmt.Errorf("filter %q: %w", m.Name, err)
		}
		if err.Error() != why.Error() { // it may be the same piece
			why = fmt.Errorf("%w; the previous copy: %w", why, err)
		}
	case readable:
		r.o.Log.Warn("last snapshot of a filter unreadable; the log creates the filter", event.DamageRepaired, "filter", m.Name, "error", why)
		r.mu.Lock()
		r.missing[m.ID] = m
		r.mu.Unlock()
		r.useOlder()
		return nil
	}
	return r.restoreIncomplete(ctx, m, segments, why)
}

// olderEntry returns the entry of a filter in the previous snapshot. If there is none and readable is
// true, the log creates the filter.
func (r *restorer) olderEntry(ctx context.Context, id uint64) (entry []byte, readable bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.older == nil {
		r.older = make(map[uint64][]byte)
		if err := r.readOlder(ctx); err != nil {
			return nil, false, err
		}
	}
	return r.older[id], r.olderReadable, nil
}

// readOlder reads the catalog of the previous snapshot. If there is none, the log must contain the
// first change. The caller holds mu.
func (r *restorer) readOlder(ctx context.Context) error {
	if r.usedPrevious {
		return nil
	}
	previous := r.set.Previous
	if previous == nil {
		r.olderReadable = r.logIsWhole(ctx)
		return nil
	}
	entries, err := r.catalog(ctx, previous)
	if r.isDamage(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, b := range entries {
		r.older[snapshot.EntryID(b)] = b
	}
	r.olderReadable = true
	return nil
}

// useOlder makes the replay begin where the copies in the previous snapshot need it, or with the first
// change if there is none.
func (r *restorer) useOlder() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set.Previous == nil {
		r.useWholeLog()
		return
	}
	r.use(r.set.Previous)
}

// logIsWhole reports whether the log contains the first change.
func (r *restorer) logIsWhole(ctx context.Context) bool {
	if first, last := r.log.Bounds(); first > 1 || last == 0 {
		return false
	}
	whole := false
	err := r.log.Read(ctx, 1, func(_ uint64, b []byte) error {
		first, err := changes.First(b)
		whole = err == nil && first == 1
		return io.EOF
	})
	return whole && errors.Is(err, io.EOF)
}

// restoreIncomplete restores a filter that has lost cells. It returns true for every key until it is
// created again.
func (r *restorer) restoreIncomplete(ctx context.Context, m engine.Meta, segments []snapshot.Reference, why error) error {
	if err := r.losses.add("cells of filter %q, which returns true for every key until it is created again: %w", m.Name, why); err != nil {
		return err
	}
	index := snapshot.SegmentIndex(&m.State)
	m.Incomplete, m.Lost = true, true
	err := r.engine.Restore(m, func(g engine.Segment, dst []byte) error {
		if r.pieces.Copy(ctx, segments[index(g)], dst) != nil {
			clear(dst)
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		err = restorePlaceholder(r.engine, m)
	}
	if err != nil && ctx.Err() == nil {
		r.losses.missNames(0)
		return r.losses.add("filter %q: %w", m.Name, err)
	}
	return err
}

// restorePlaceholder restores a filter whose state is invalid or lost as an incomplete, empty one of the same
// kind.
func restorePlaceholder(e *engine.Engine, m engine.Meta) error {
	m.Incomplete, m.Lost = true, true
	kind, err := e.Kinds().Find(m.State.Kind)
	if err != nil {
		return err
	}
	f, err := kind.New(umbel.Goal{Keys: 1, FPRate: .5, Hasher: m.State.Hasher}, nil)
	if err != nil {
		return err
	}
	m.State = f.State()
	var words [][]uint64
	for _, p := range m.State.AllArrays() {
		words = append(words, p.Words)
	}
	return e.Restore(m, func(g engine.Segment, dst []byte) error {
		statecode.PutWords(dst, words[g.Array][g.Offset/8:][:len(dst)/8])
		return nil
	})
}
