package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	entries  map[uint64]entry
	live     map[uint64]int // bytes of pieces to which the new snapshot refers
}

// entry is the entry of a filter in the catalogue.
type entry struct {
	version uint64 // of the filter when it was copied
	known   bool   // the entry is that of version
	bytes   []byte
}

func newCopier(ctx context.Context, t *Taker, s *Snapshot) *copier {
	c := &copier{
		taker: t, snapshot: s, packer: newPacker(t.files), throttle: throttle{taker: t}, last: newLastEntries(ctx, t),
		entries: make(map[uint64]entry), live: make(map[uint64]int),
	}
	c.packer.entry, c.packer.wrote = c.addEntry, func(n int) { t.spent.Add(uint64(n)) }
	return c
}

// addEntry adds the entry of a filter.
func (c *copier) addEntry(id, version uint64, bytes []byte) {
	c.entries[id] = entry{version: version, known: true, bytes: bytes}
}

// all copies all filters and returns the catalogue.
func (c *copier) all(ctx context.Context) ([]Reference, error) {
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
	if !c.taker.o.Logged {
		if err := c.updateNames(); err != nil {
			return nil, err
		}
	}
	return c.catalogue(ctx)
}

// catalogue writes the catalogue.
func (c *copier) catalogue(ctx context.Context) ([]Reference, error) {
	for _, id := range slices.Sorted(maps.Keys(c.entries)) {
		e := c.entries[id]
		if err := c.packer.enter(ctx, e.bytes); err != nil {
			return nil, err
		}
		c.snapshot.Filters++
		segments := entrySegments(e.bytes)
		for _, r := range segments {
			c.snapshot.Bytes += uint64(r.length)
		}
		refer(c.live, segments)
	}
	catalogue, err := c.packer.finish(ctx)
	refer(c.live, catalogue)
	return catalogue, err
}

// filter copies a filter, unless the last snapshot has it as it is now.
func (c *copier) filter(ctx context.Context, f *engine.Filter) error {
	id := f.ID()
	if _, twice := c.entries[id]; twice {
		return nil
	}
	var old []Reference
	version := f.Version()
	if b := c.last.find(id); b != nil {
		old = entrySegments(b)
		if c.taker.set.has(id, version) && !slices.ContainsFunc(old, c.moves) {
			c.addEntry(id, version, b)
			return nil
		}
	}
	for tries := 0; ; tries++ {
		m, segments, ok, err := c.copy(ctx, f, old, tries >= maxMoving)
		switch {
		case err != nil:
			return err
		case ok:
			c.entries[id] = entry{} // until its pieces are written
			if err := c.packer.filter(ctx, m, version, segments); err != nil {
				return err
			}
			return c.throttle.rest(ctx)
		case errors.Is(f.View(func(umbel.Filter) {}), engine.ErrNotFound): // deleted
			return nil
		case tries > maxMoving:
			return fmt.Errorf("snapshot: filter %q cannot be copied: its shape changed while it was locked", f.Name())
		}
		version = f.Version()
	}
}

// updateNames gives the entries the names that the filters have at one moment. It is for snapshots
// without a log, which would tell what was renamed and deleted while the copies were made.
func (c *copier) updateNames() error {
	names := c.taker.engine.Names()
	for id, e := range c.entries {
		now, ok := names[id]
		if !ok {
			delete(c.entries, id)
			continue
		}
		m, segments, err := ReadEntry(e.bytes, wire.NoLimits)
		if err != nil {
			return err
		}
		if now != m.Name {
			m.Name = now
			c.entries[id] = entry{bytes: AppendEntry(nil, &m, segments)}
		}
	}
	return nil
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

// versions returns the filters whose version in the snapshot is known.
func (c *copier) versions() []copied {
	list := make([]copied, 0, len(c.entries))
	for id, e := range c.entries {
		if e.known {
			list = append(list, copied{id, e.version})
		}
	}
	slices.SortFunc(list, func(a, b copied) int { return cmp.Compare(a.id, b.id) })
	return list
}
