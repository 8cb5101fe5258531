package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// maxMoving is the maximum number of attempts to copy a filter while it changes. If its shape changes
// during each, its changes wait during the next attempt.
const maxMoving = 3

// copier makes the copies of one snapshot.
type copier struct {
	taker    *Taker
	snapshot *Snapshot
	packer   *packer
	throttle throttle
	last     lastEntries
	live     map[uint64]int // bytes of pieces to which the new snapshot refers
}

func newCopier(ctx context.Context, t *Taker, s *Snapshot) *copier {
	c := &copier{
		taker: t, snapshot: s, packer: newPacker(t.files), throttle: throttle{taker: t}, last: newLastEntries(ctx, t),
		live: make(map[uint64]int),
	}
	c.packer.entry = c.enter
	c.packer.wrote = func(n int) { t.spent.Add(uint64(n)) }
	return c
}

// enter writes an entry to the catalog.
func (c *copier) enter(ctx context.Context, entry []byte) error {
	c.snapshot.Filters++
	segments := entrySegments(entry)
	for _, r := range segments {
		c.snapshot.Bytes += uint64(r.length)
	}
	refer(c.live, segments)
	return c.packer.enter(ctx, entry)
}

// all copies all filters and returns the catalog.
func (c *copier) all(ctx context.Context) ([]Reference, error) {
	directory := c.taker.engine.SettleDirectory()
	for cursor := uint64(0); ; {
		// One at a time: a list of filters would keep the memory of those that are deleted during
		// the snapshot.
		var f *engine.Filter
		cursor = c.taker.engine.ListAll(cursor, 1, func(next *engine.Filter) bool { f = next; return true })
		if f == nil {
			break
		}
		if err := c.filter(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := c.packer.flush(ctx); err != nil {
		return nil, err
	}
	catalog, err := c.packer.finish(ctx)
	if err == nil && !c.taker.o.Logged {
		if names := c.taker.engine.NamesSince(directory); names != nil {
			catalog, err = c.rename(ctx, catalog, names)
		}
	}
	refer(c.live, catalog)
	return catalog, err
}

// filter copies a filter, unless the last snapshot has it as it is now.
func (c *copier) filter(ctx context.Context, f *engine.Filter) error {
	id := f.ID()
	var old []Reference
	if b := c.last.find(id); b != nil {
		old = entrySegments(b)
		if c.taker.set.has(id, f.SettledPosition()) && !slices.ContainsFunc(old, c.moves) {
			return c.packer.keep(ctx, b)
		}
	}
	for tries := 0; ; tries++ {
		m, segments, ok, err := c.copy(ctx, f, old, tries >= maxMoving)
		switch {
		case err != nil:
			return err
		case ok:
			if err := c.packer.filter(ctx, m, segments); err != nil {
				return err
			}
			return c.throttle.rest(ctx)
		case errors.Is(f.View(func(umbel.Filter) {}), engine.ErrNotFound): // deleted
			return nil
		case tries > maxMoving:
			return fmt.Errorf("filter %q cannot be copied: its shape changed while it was locked", f.Name())
		}
	}
}

// rename writes the catalog once more, with the names that the filters have at one moment. It is for
// snapshots without a log, which would contain what was renamed and deleted while the copies were made.
func (c *copier) rename(ctx context.Context, catalog []Reference, names map[uint64]string) ([]Reference, error) {
	c.snapshot.Filters, c.snapshot.Bytes = 0, 0
	clear(c.live)
	err := ReadCatalog(ctx, NewCache(c.taker.files), &Snapshot{Catalog: catalog}, func(b []byte) error {
		now, ok := names[EntryID(b)]
		if !ok {
			return nil
		}
		m, segments, err := ReadEntry(b, wire.NoLimits)
		if err != nil {
			return err
		}
		if now != m.Name {
			m.Name = now
			b = AppendEntry(nil, &m, segments)
		}
		return c.enter(ctx, b)
	})
	if err != nil {
		return nil, err
	}
	return c.packer.finish(ctx)
}

// copy copies a filter once. Its changes wait if still is true. ok is false if its shape changed
// meanwhile.
func (c *copier) copy(ctx context.Context, f *engine.Filter, old []Reference, still bool) (m engine.Meta, segments []*Reference, ok bool, err error) {
	kind, err := c.taker.engine.Kinds().Find(f.Kind())
	changes := err == nil && kind.Monotone && !still && !f.Incomplete()
	var capture *engine.Capture
	if still {
		capture = f.CaptureStill()
	} else {
		capture = f.Capture()
	}
	for err = ctx.Err(); err == nil; {
		var room, data []byte
		if room, err = c.packer.room(ctx); err != nil {
			break
		}
		// If changes wait for the copy, it does not rest.
		if changes && len(segments) > 0 {
			if err = c.throttle.rest(ctx); err != nil {
				break
			}
		}
		if _, data = capture.Next(room); data == nil {
			break
		}
		var before *Reference
		if i := len(segments); i < len(old) && !c.moves(old[i]) {
			before = &old[i]
		}
		segments = append(segments, c.packer.add(len(data), before))
	}
	m, ok = capture.End()
	if err == nil {
		err = capture.Err()
	}
	if err == nil && ok {
		err = checkSegments(&m.State, values(segments))
	}
	return m, segments, ok, err
}

// moves reports whether bytes should be copied to another piece, because more than half of their piece
// is obsolete.
func (c *copier) moves(r Reference) bool {
	return !r.IsZero() && int64(c.taker.set.live[r.piece])*2 < c.taker.files.Size(r.piece)
}

func values(refs []*Reference) []Reference {
	list := make([]Reference, len(refs))
	for i, r := range refs {
		list[i] = *r
	}
	return list
}
