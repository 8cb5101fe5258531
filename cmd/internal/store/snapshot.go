package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/wire"
)

// maxFlowing is how often a filter is copied beside its changes that becomes of another
// shape meanwhile, before they have to wait.
const maxFlowing = 3

// archive is the snapshots that there are.
type archive struct {
	revision uint64
	manifest manifest
	entries  map[uint64]entry // of the last snapshot, by filter
	blobs    map[uint64]*usage
}

// entry is what the last catalogue has of a filter.
type entry struct {
	version uint64 // of the filter when it was copied
	known   bool   // version is one of this process
	bytes   []byte
}

// usage is what is needed of a blob.
type usage struct {
	size int    // at least
	live int    // bytes to which the last snapshot refers
	made uint64 // number of the snapshot that it was made for; 0 if that was another process
	at   uint64 // number of the last snapshot that refers to it
}

// Snapshot copies all filters that changed since the last snapshot and cuts the log. The
// filters go on meanwhile. If nothing changed there is nothing to do.
func (s *Store) Snapshot(ctx context.Context) error {
	s.snapping.Lock()
	defer s.snapping.Unlock()
	if c := s.archive.manifest.current; c != nil && c.position == s.Last() && !s.owing {
		return nil
	}
	begin := time.Now()
	s.note(func(st *Status) { st.Snapshotting = true })
	n, err := s.snapshot(ctx)
	took := time.Since(begin)
	s.note(func(st *Status) {
		st.Snapshotting, st.LastSnapshotTook, st.LastSnapshotErr = false, took, err
		if err == nil {
			st.LastSnapshot = s.archive.manifest.current.time()
		}
	})
	if err != nil {
		s.o.Log.Error("snapshot failed; log not truncated", "error", err)
		return err
	}
	s.owing = false
	s.o.Log.Info("snapshot taken", "filters", s.archive.manifest.current.filters, "written", n, "took", took)
	return nil
}

// snapshot makes a snapshot and returns how many bytes of blobs it wrote. Called with
// snapping held.
func (s *Store) snapshot(ctx context.Context) (uint64, error) {
	next := &snapshot{taken: time.Now().UnixMilli(), number: 1}
	if c := s.archive.manifest.current; c != nil {
		next.number = c.number + 1
	}
	if s.o.Durability == None {
		_, last := s.log.Bounds()
		next.batch = last + 1
	} else {
		next.batch, next.covered = s.queue.replayFrom()
	}
	w := &walk{store: s, snapshot: next, packer: newPacker(s.log), entries: make(map[uint64]entry), live: make(map[uint64]int)}
	w.packer.put = w.put
	w.packer.entry = w.entered
	written := s.queue.written()
	if err := s.copyAll(ctx, w, next); err != nil {
		s.archive.drop(ctx, s.log, next.number)
		return w.packer.written, err
	}
	if err := s.archive.publish(ctx, s.log, next); err != nil {
		for _, u := range s.archive.blobs {
			u.made = 0 // the manifest may be there some day: they aren't deleted before the next is
		}
		return w.packer.written, err
	}
	s.archive.entries = w.entries
	s.archive.count(w, next)
	s.marked.Store(written)
	if err := s.tidy(ctx); err != nil {
		s.o.Log.Warn("could not delete obsolete snapshot data; will retry", "error", err)
	}
	return w.packer.written, nil
}

// copyAll makes the copies of a snapshot and sees to it that the log has what they may have.
func (s *Store) copyAll(ctx context.Context, w *walk, next *snapshot) (err error) {
	if next.catalogue, err = w.all(ctx); err != nil {
		return err
	}
	next.position = s.Last()
	if s.o.Durability != None {
		return s.queue.wait(ctx, next.position)
	}
	next.covered = next.position
	return nil
}

// publish makes next the last snapshot.
func (a *archive) publish(ctx context.Context, l oplog.Log, next *snapshot) error {
	m := manifest{current: next, previous: a.manifest.current}
	coded := m.append(nil)
	for {
		revision, err := l.SetManifest(ctx, coded, a.revision)
		if err == nil {
			a.revision, a.manifest = revision, m
			return nil
		}
		there, now, unread := l.Manifest(ctx)
		switch {
		case unread == nil && bytes.Equal(there, coded): // kept in spite of that
			a.revision, a.manifest = now, m
			return nil
		case unread == nil && errors.Is(err, oplog.ErrConflict) && now > a.revision:
			// One before this, of which an error was said, was kept. It is replaced: what the
			// two have in common is still there.
			a.revision = now
		default:
			return fmt.Errorf("store: the manifest of a snapshot: %w", err)
		}
	}
}

// drop deletes the blobs of a snapshot of which nothing came: on a disk that is full they
// would leave no room for the next. Those that stay are deleted later.
func (a *archive) drop(ctx context.Context, l oplog.Log, number uint64) {
	var dead []uint64
	for n, u := range a.blobs {
		if u.made == number {
			dead = append(dead, n)
		}
	}
	if len(dead) > 0 && l.DeleteBlobs(ctx, dead) == nil {
		for _, n := range dead {
			delete(a.blobs, n)
		}
	}
}

// walk makes the copies of one snapshot.
type walk struct {
	store    *Store
	snapshot *snapshot
	packer   *packer
	entries  map[uint64]entry
	order    []uint64       // of the entries: those that are near each other share blobs
	live     map[uint64]int // bytes of blobs to which the new catalogue refers
	pace     pace
}

// put notes a blob, so that it is deleted in case nothing comes of the snapshot.
func (w *walk) put(number uint64, size int) {
	w.store.archive.blobs[number] = &usage{size: size, made: w.snapshot.number}
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
	filters := make([]*engine.Filter, 0, 256)
	for cursor := uint64(0); ; {
		filters = filters[:0]
		cursor = e.ListAll(cursor, cap(filters), func(f *engine.Filter) bool {
			filters = append(filters, f)
			return true
		})
		for _, f := range filters {
			if err := w.filter(ctx, f); err != nil {
				return nil, err
			}
		}
		if cursor == 0 {
			break
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
			if r.blob != 0 {
				w.live[r.blob] += int(r.length)
			}
		}
	}
	return w.packer.finish(ctx)
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
		moves := w.store.archive.sparse(old)
		if e.known && e.version == version && !moves {
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
			w.entries[id] = entry{} // until its blobs are written
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
		if i := len(segments); i < len(old) && !w.store.archive.moves(old[i]) {
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

// moves reports whether bytes are better copied than left in a blob of which little is needed.
func (a *archive) moves(r reference) bool {
	u := a.blobs[r.blob]
	return u != nil && u.live*2 < u.size
}

// sparse reports whether one of the segments moves.
func (a *archive) sparse(segments []reference) bool {
	for _, r := range segments {
		if r.blob != 0 && a.moves(r) {
			return true
		}
	}
	return false
}

// count notes what a new snapshot refers to.
func (a *archive) count(w *walk, next *snapshot) {
	for _, u := range a.blobs {
		u.live = 0
	}
	use := func(number uint64, live int) {
		u := a.blobs[number]
		if u == nil {
			u = new(usage)
			a.blobs[number] = u
		}
		u.live += live
		u.size = max(u.size, u.live)
		u.at, u.made = next.number, 0
	}
	for number, live := range w.live {
		use(number, live)
	}
	for _, r := range next.catalogue {
		use(r.blob, int(r.length))
	}
}

// tidy cuts the log and deletes blobs, as far as neither of the snapshots needs them.
// Called with snapping held. While a backup reads them it does nothing.
func (s *Store) tidy(ctx context.Context) error {
	m := s.archive.manifest
	if s.reading > 0 || m.previous == nil {
		return nil
	}
	var errs []error
	if err := s.log.Purge(ctx, min(m.previous.batch, m.current.batch)); err != nil {
		errs = append(errs, fmt.Errorf("store: log not truncated: %w", err))
	}
	var dead []uint64
	for number, u := range s.archive.blobs {
		if u.at < m.previous.number {
			dead = append(dead, number)
		}
	}
	if len(dead) > 0 {
		if err := s.log.DeleteBlobs(ctx, dead); err != nil {
			errs = append(errs, fmt.Errorf("store: obsolete blobs not deleted: %w", err))
		} else {
			for _, number := range dead {
				delete(s.archive.blobs, number)
			}
		}
	}
	return errors.Join(errs...)
}

// pace gives way to changes: while there are some, a snapshot works a tenth of the time.
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
	busy := last != p.last && !p.since.IsZero() && !p.store.hurry.Load()
	p.last = last
	worked := now.Sub(p.since)
	if p.since.IsZero() {
		p.since = now
	}
	if worked < time.Millisecond {
		return nil
	}
	p.since = now
	if !busy {
		return nil
	}
	t := time.NewTimer(min(worked*paceShare, paceRest))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.since = time.Now()
	return nil
}
