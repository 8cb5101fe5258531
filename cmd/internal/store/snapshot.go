package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// maxFlowing is the maximum number of attempts to copy a filter while it changes. If its shape changes
// during each, its changes wait during the next attempt.
const maxFlowing = 3

// archive is the snapshots on disk.
type archive struct {
	current, previous *snapshot        // the last two that are usable; nil if there is none
	entries           map[uint64]entry // of the last snapshot, by filter
	live, liveBefore  map[uint64]int   // bytes of pieces to which current and previous refer, by piece
}

// entry is the entry of a filter in the last catalogue.
type entry struct {
	version uint64 // of the filter when it was copied
	known   bool   // version is one of this process
	bytes   []byte
}

// Snapshot copies all filters that changed since the last snapshot and truncates the log. Filters can
// be queried and changed meanwhile. If nothing changed, it does nothing.
func (s *Store) Snapshot(ctx context.Context) error {
	s.snapping.Lock()
	defer s.snapping.Unlock()
	if c := s.archive.current; c != nil && c.position == s.Last() && !s.owing {
		return nil
	}
	begin := time.Now()
	s.note(func(st *Status) { st.Snapshotting = true })
	n, err := s.snapshot(ctx)
	took := time.Since(begin)
	s.note(func(st *Status) {
		st.Snapshotting, st.LastSnapshotTook, st.LastSnapshotErr = false, took, err
		if err == nil {
			st.LastSnapshot = s.archive.current.time()
		}
	})
	if err != nil {
		s.o.Log.Error("snapshot failed; log not truncated", "error", err)
		s.noteFull(err)
		return err
	}
	s.owing = false
	s.o.Log.Info("snapshot taken", "filters", s.archive.current.filters, "written", n, "took", took)
	return nil
}

// snapshot takes a snapshot and returns the number of bytes of pieces that it wrote. The caller holds
// snapping.
func (s *Store) snapshot(ctx context.Context) (uint64, error) {
	next := &snapshot{taken: time.Now().UnixMilli(), number: s.files.LastNumber() + 1}
	if s.o.Durability == None {
		_, last := s.log.Bounds()
		next.batch = last + 1
	} else {
		next.batch, next.covered = s.journal.ReplayFrom()
	}
	w := &walk{store: s, snapshot: next, packer: newPacker(s.files), entries: make(map[uint64]entry), live: make(map[uint64]int)}
	w.packer.entry = w.entered
	written := s.written()
	if err := s.copyAll(ctx, w, next); err != nil {
		if e := s.files.Discard(); e != nil {
			s.o.Log.Warn("could not delete the files of a failed snapshot; will retry", "error", e)
		}
		return w.packer.written, err
	}
	if err := s.files.Publish(next.number, uint64(next.position), manifest{snapshot: next}.append(nil)); err != nil {
		return w.packer.written, fmt.Errorf("store: %w", err)
	}
	a := &s.archive
	a.current, a.previous = next, a.current
	a.live, a.liveBefore = w.live, a.live
	a.entries = w.entries
	s.marked.Store(written)
	if err := s.tidy(ctx); err != nil {
		s.o.Log.Warn("could not delete obsolete snapshot data; will retry", "error", err)
	}
	return w.packer.written, nil
}

// copyAll makes the copies of a snapshot and waits until the log has all changes that they may have.
func (s *Store) copyAll(ctx context.Context, w *walk, next *snapshot) (err error) {
	if next.catalogue, err = w.all(ctx); err != nil {
		return err
	}
	next.position = s.Last()
	if s.o.Durability != None {
		return s.journal.Sync(ctx, next.position)
	}
	next.covered = next.position
	return nil
}

// walk makes the copies of one snapshot.
type walk struct {
	store    *Store
	snapshot *snapshot
	packer   *packer
	entries  map[uint64]entry
	order    []uint64       // of the entries: neighbours share pieces
	live     map[uint64]int // bytes of pieces to which the new snapshot refers
	pace     pace
}

// entered takes an entry of a filter.
func (w *walk) entered(id, version uint64, bytes []byte) {
	w.entries[id] = entry{version: version, known: true, bytes: bytes}
	w.order = append(w.order, id)
}

// all copies all filters and returns the catalogue.
func (w *walk) all(ctx context.Context) ([]reference, error) {
	e := w.store.engine
	w.pace.store = w.store
	for cursor := uint64(0); ; {
		// One at a time: a list of filters would keep the memory of those that are deleted during
		// the snapshot.
		var f *engine.Filter
		cursor = e.ListAll(cursor, 1, func(next *engine.Filter) bool { f = next; return true })
		if f == nil {
			break
		}
		if err := w.filter(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := w.packer.flush(ctx); err != nil {
		return nil, err
	}
	if w.store.o.Durability == None {
		if err := w.agree(); err != nil {
			return nil, err
		}
	}
	return w.catalogue(ctx)
}

// catalogue writes the catalogue.
func (w *walk) catalogue(ctx context.Context) ([]reference, error) {
	for _, id := range w.order {
		e, ok := w.entries[id]
		if !ok {
			continue
		}
		if err := w.packer.enter(ctx, e.bytes); err != nil {
			return nil, err
		}
		w.snapshot.filters++
		for _, r := range entrySegments(e.bytes) {
			w.snapshot.bytes += uint64(r.length)
			if r.piece != 0 {
				w.live[r.piece] += int(r.length)
			}
		}
	}
	catalogue, err := w.packer.finish(ctx)
	for _, r := range catalogue {
		w.live[r.piece] += int(r.length)
	}
	return catalogue, err
}

// filter copies a filter, unless the last snapshot has it as it is now.
func (w *walk) filter(ctx context.Context, f *engine.Filter) error {
	id := f.ID()
	if _, twice := w.entries[id]; twice {
		return nil
	}
	var old []reference
	version := f.Version()
	if e, ok := w.store.archive.entries[id]; ok {
		old = entrySegments(e.bytes)
		if e.known && e.version == version && !slices.ContainsFunc(old, w.store.moves) {
			w.entered(id, version, e.bytes)
			return nil
		}
	}
	for tries := 0; ; tries++ {
		m, segments, ok, err := w.copy(ctx, f, old, tries >= maxFlowing)
		switch {
		case err != nil:
			return err
		case ok:
			w.entries[id] = entry{} // until its pieces are written
			if err := w.packer.filter(ctx, m, version, segments); err != nil {
				return err
			}
			return w.pace.rest(ctx)
		case gone(f):
			return nil
		case tries > maxFlowing:
			return fmt.Errorf("store: filter %q can't be copied: its shape changed while it was locked", f.Name())
		}
		version = f.Version()
	}
}

// agree gives the entries the names that the filters have at one moment: there is no log
// that tells who was renamed, and deleted, while the copies were made.
func (w *walk) agree() error {
	names := w.store.engine.Names()
	for id, e := range w.entries {
		now, ok := names[id]
		if !ok {
			delete(w.entries, id)
			continue
		}
		m, segments, err := readEntry(e.bytes, wire.NoLimits)
		if err != nil {
			return err
		}
		if now != m.Name {
			m.Name = now
			w.entries[id] = entry{bytes: appendEntry(nil, &m, segments)}
		}
	}
	return nil
}

// gone reports whether the filter was deleted.
func gone(f *engine.Filter) bool {
	return errors.Is(f.View(func(umbel.Filter) {}), engine.ErrNotFound)
}

// copy copies a filter once, with its changes waiting if still is true. ok is false if it
// became of another shape meanwhile.
func (w *walk) copy(ctx context.Context, f *engine.Filter, old []reference, still bool) (m engine.Meta, segments []*reference, ok bool, err error) {
	variant, err := w.store.engine.Kinds().Find(f.Kind())
	flows := err == nil && variant.Monotone && !still && !f.Incomplete()
	var c *engine.Capture
	if still {
		c = f.CaptureStill()
	} else {
		c = f.Capture()
	}
	for err = ctx.Err(); err == nil; {
		var room, data []byte
		if room, err = w.packer.room(ctx); err != nil {
			break
		}
		// Where additions go on during the copy there is time to give them way.
		if flows && len(segments) > 0 {
			if err = w.pace.rest(ctx); err != nil {
				break
			}
		}
		if _, data = c.Next(room); data == nil {
			break
		}
		var before *reference
		if i := len(segments); i < len(old) && !w.store.moves(old[i]) {
			before = &old[i]
		}
		segments = append(segments, w.packer.add(len(data), before))
	}
	m, ok = c.End()
	if err == nil && ok {
		err = checkCopy(&m, segments)
	}
	return m, segments, ok, err
}

// checkCopy returns an error unless the segments are all of the filter.
func checkCopy(m *engine.Meta, segments []*reference) error {
	plain := make([]reference, len(segments))
	for i, r := range segments {
		plain[i] = *r
	}
	return checkSegments(&m.State, plain)
}

// moves reports whether bytes should be copied to another piece, because more than half of their piece
// is obsolete.
func (s *Store) moves(r reference) bool {
	return r.piece != 0 && int64(s.archive.live[r.piece])*2 < s.files.Size(r.piece)
}

// tidy truncates the log and deletes files, as far as neither of the snapshots needs them. The caller
// holds snapping. While a backup reads them, tidy does nothing.
func (s *Store) tidy(ctx context.Context) error {
	a := &s.archive
	if s.reading > 0 || a.previous == nil {
		return nil
	}
	return s.cleanUp(ctx, min(a.previous.batch, a.current.batch), a.current.number, a.previous.number)
}

// cleanUp deletes the log before a batch, and files that the snapshots of these numbers do not need.
func (s *Store) cleanUp(ctx context.Context, batch uint64, snapshots ...uint64) error {
	a := &s.archive
	err := s.log.Purge(ctx, batch)
	if err != nil {
		err = fmt.Errorf("store: log not truncated: %w", err)
	}
	return errors.Join(err, s.files.Sweep(snapshots, func(piece uint64) bool {
		return a.live[piece] > 0 || a.liveBefore[piece] > 0
	}))
}

// pace gives way to changes: while there are some, a snapshot works a tenth of the time, and more if
// the log has become longer than Options.SnapshotBytes. It does not rest if the log is twice as long.
type pace struct {
	store *Store
	since time.Time // the end of the last rest
	last  engine.Position
}

const (
	paceShare = 9 // rests for each time worked
	paceRest  = 500 * time.Millisecond
)

func (p *pace) rest(ctx context.Context) error {
	now := time.Now()
	last := p.store.Last()
	busy := last != p.last && !p.since.IsZero()
	p.last = last
	worked := now.Sub(p.since)
	if p.since.IsZero() {
		p.since = now
	}
	if worked < time.Millisecond {
		return nil
	}
	p.since = now
	share := p.store.leisure()
	if !busy || share == 0 {
		return nil
	}
	t := time.NewTimer(time.Duration(share * float64(min(worked*paceShare, paceRest))))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.since = time.Now()
	return nil
}

// leisure returns the share of its rests that a snapshot takes, from 0 to 1.
func (s *Store) leisure() float64 {
	if s.hurry.Load() || s.full.Load() {
		return 0
	}
	return restShare(s.written()-s.marked.Load(), s.o.SnapshotBytes)
}

// restShare returns the share of its rests that a snapshot takes if the log has length bytes and was
// planned to have planned bytes, 0 if it may have any length.
func restShare(length, planned uint64) float64 {
	if planned == 0 {
		return 1
	}
	return max(0, min(1, 2-float64(length)/float64(planned)))
}
