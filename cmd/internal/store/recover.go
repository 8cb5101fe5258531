package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/changelog"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/statecode"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/sync/errgroup"
)

// ErrLost is wrapped by errors of a start that found changes, cells or filters gone that
// were kept. They say what is lost.
var ErrLost = errors.New("durable data is lost")

// howToGoOn is the remedy in these errors.
const howToGoOn = "restore a backup, or start without the lost data (--accept-loss)"

// maxLost is how many losses a report names.
const maxLost = 1000

// recovery makes an engine's filters again.
type recovery struct {
	log    oplog.Log
	files  *snapfile.Dir
	engine *engine.Engine
	o      Options
	pieces *pieceCache
	report Report

	archive  archive
	damaged  bool            // a manifest is
	position engine.Position // of the last change there is
	batch    uint64          // number of the last batch there is

	fellBack bool            // to the snapshot before the last, for all filters
	used     bool            // the next two are set
	from     uint64          // the first batch to be read
	covered  engine.Position // up to here changes needn't be in the log
	single   engine.Position // up to here a copy may have changes

	mu    sync.Mutex        // guards what restoring filters side by side writes
	older map[uint64][]byte // entries of the snapshot before the last, once it was needed
	reads bool              // that could be read
	owed  map[uint64]string // filters that the log must make, with their names
	lost  bool              // changes or cells are

	copied  map[uint64]engine.Position // From of the filters that were restored
	changed map[uint64]bool            // filters of which the engine has more than the last copy
	hidden  map[uint64]bool            // filters that lack changes or cells
	holed   bool                       // the batch that comes next is behind a hole
}

func newRecovery(l oplog.Log, files *snapfile.Dir, e *engine.Engine, o Options) *recovery {
	return &recovery{
		log: l, files: files, engine: e, o: o, pieces: newPieceCache(files), owed: make(map[uint64]string),
		copied: make(map[uint64]engine.Position), changed: make(map[uint64]bool), hidden: make(map[uint64]bool),
		archive: archive{entries: make(map[uint64]entry)},
	}
}

// recoverAll restores the filters of the engine.
func recoverAll(ctx context.Context, l oplog.Log, files *snapfile.Dir, e *engine.Engine, o Options) (*recovery, error) {
	begin := time.Now()
	r := newRecovery(l, files, e, o)
	r.report.Torn = l.Torn()
	err := r.run(ctx)
	r.report.Filters, r.report.Took = e.Len(), time.Since(begin)
	r.report.Bytes, _ = e.Memory()
	return r, err
}

func (r *recovery) run(ctx context.Context) error {
	if err := r.manifest(); err != nil {
		return err
	}
	if err := r.restore(ctx); err != nil {
		return err
	}
	if err := r.replay(ctx); err != nil {
		return err
	}
	if r.lost {
		if err := r.engine.DropNameless(func(id uint64, name string) error {
			return r.loss("filter %d, which another took the name %q from, and whose own name is lost", id, name)
		}); err != nil {
			return err
		}
	}
	if err := r.engine.FinishReplay(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if used, limit := r.engine.Memory(); limit != 0 && used > limit {
		r.o.Log.Warn("memory limit exceeded after recovery; creating and growing filters is refused", "bytes", used, "limit", limit)
	}
	r.knowVersions()
	return r.countPieces(ctx)
}

// knowVersions notes of which filters the last snapshot has all there is.
func (r *recovery) knowVersions() {
	for cursor := uint64(0); ; {
		cursor = r.engine.ListAll(cursor, 1<<10, func(f *engine.Filter) bool {
			id := f.ID()
			if e, ok := r.archive.entries[id]; ok && !r.changed[id] {
				e.version, e.known = f.Version(), true
				r.archive.entries[id] = e
			}
			return true
		})
		if cursor == 0 {
			return
		}
	}
}

// countPieces counts the bytes of pieces that the snapshots need.
func (r *recovery) countPieces(ctx context.Context) error {
	a := &r.archive
	var err error
	if a.live, err = r.references(ctx, a.current); err != nil {
		return err
	}
	a.liveBefore, err = r.references(ctx, a.previous)
	if errors.Is(err, umbel.ErrCorrupt) {
		r.o.Log.Warn("previous snapshot unreadable", "error", err)
		a.previous, a.liveBefore, err = nil, nil, nil
	}
	return err
}

// references returns the number of bytes of each piece to which a snapshot refers.
func (r *recovery) references(ctx context.Context, s *snapshot) (map[uint64]int, error) {
	live := make(map[uint64]int)
	if s == nil {
		return live, nil
	}
	count := func(refs []reference) {
		for _, ref := range refs {
			if ref.piece != 0 {
				live[ref.piece] += int(ref.length)
			}
		}
	}
	count(s.catalogue)
	return live, readCatalogue(ctx, r.pieces, s.catalogue, func(b []byte) error {
		count(entrySegments(b))
		return nil
	})
}

// loss notes what is lost; it is an error unless losses are accepted.
func (r *recovery) loss(format string, args ...any) error {
	what := fmt.Errorf(format, args...)
	if !r.o.AcceptLoss {
		return fmt.Errorf("store: %w: %w: %s", ErrLost, what, howToGoOn)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
	if len(r.report.Lost) < maxLost {
		r.report.Lost = append(r.report.Lost, what.Error())
		r.o.Log.Warn("lost", "what", what)
	}
	return nil
}

// manifest finds the last two usable snapshots.
func (r *recovery) manifest() error {
	list, err := r.files.Manifests()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	a, found := &r.archive, false
	for _, m := range list {
		if m.Err != nil {
			r.damaged = true
			r.o.Log.Warn("manifest of a snapshot is damaged", "number", m.Number, "usable copies", m.Whole, "error", m.Err)
		}
		if m.Whole == 0 {
			r.expect(engine.Position(m.Position)) // its name is intact
			continue
		}
		s, err := r.readManifest(m)
		if err != nil {
			return err
		}
		if !found {
			found, a.current = true, s
			continue
		}
		a.previous = s
		break
	}
	if len(list) > 0 && !found {
		return r.loss("the manifests of all snapshots: filters that the log does not create are gone: %w", list[0].Err)
	}
	return nil
}

// readManifest returns the snapshot of a manifest, nil if it has none.
func (r *recovery) readManifest(m snapfile.Manifest) (*snapshot, error) {
	decoded, err := readManifest(m.Data)
	switch s := decoded.snapshot; {
	case err != nil:
		return nil, err
	case decoded.unfinished:
		return nil, errors.New("store: the directory contains an incomplete restore; remove it and restore again")
	case s != nil && s.number != m.Number:
		return nil, fmt.Errorf("store: manifest %d describes snapshot %d: %w", m.Number, s.number, umbel.ErrCorrupt)
	default:
		return s, nil
	}
}

// limits are those of the states that are read: more than there is. The engine's limit of
// memory isn't asked: it may be lower by now, and what was there is there again.
func limits() wire.Limits { return wire.Limits{Bytes: 1 << 44, States: 1 << 20} }

// restore puts the filters of the last snapshot back.
func (r *recovery) restore(ctx context.Context) error {
	a := &r.archive
	if a.current == nil {
		r.from = 1
		return nil
	}
	r.use(a.current)
	entries, err := r.catalogue(ctx, a.current)
	if errors.Is(err, umbel.ErrCorrupt) {
		entries, err = r.fallBack(ctx, err)
	}
	if err != nil {
		return err
	}
	r.report.Snapshot = a.current.time()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, b := range entries {
		group.Go(func() error { return r.filter(ctx, b) })
	}
	return group.Wait()
}

// use has the log read from where that snapshot needs it.
func (r *recovery) use(s *snapshot) {
	if !r.used {
		r.used, r.from, r.covered = true, s.batch, s.covered
	}
	r.from, r.covered = min(r.from, s.batch), min(r.covered, s.covered)
	r.expect(s.position)
}

// expect makes it a loss if the log ends before a position up to which a copy may have changes.
func (r *recovery) expect(position engine.Position) {
	r.single = max(r.single, position)
	r.position = max(r.position, position)
}

// catalogue reads the entries of a snapshot.
func (r *recovery) catalogue(ctx context.Context, s *snapshot) (entries [][]byte, err error) {
	err = readCatalogue(ctx, r.pieces, s.catalogue, func(b []byte) error {
		entries = append(entries, b)
		return nil
	})
	if err == nil && uint64(len(entries)) != s.filters {
		err = fmt.Errorf("%d filters in the catalogue, want %d: %w", len(entries), s.filters, umbel.ErrCorrupt)
	}
	return entries, err
}

// fallBack takes the snapshot before the last in its place.
func (r *recovery) fallBack(ctx context.Context, why error) ([][]byte, error) {
	a := &r.archive
	last, previous := a.current, a.previous
	a.current, a.previous = previous, nil
	r.damaged = true
	r.o.Log.Warn("last snapshot unreadable; using the previous one", "error", why)
	if previous != nil {
		entries, err := r.catalogue(ctx, previous)
		if err == nil {
			r.use(previous)
			r.fellBack = true
			return entries, nil
		}
		a.current = nil
		why = errors.Join(why, err)
		if !errors.Is(err, umbel.ErrCorrupt) {
			return nil, why
		}
	}
	if previous == nil && r.logIsWhole(ctx) {
		r.from, r.covered = 1, 0
		return nil, nil
	}
	return nil, r.loss("the catalogue of the snapshot of %v: those of its %d filters that the log does not create are gone: %w", last.time(), last.filters, why)
}

// filter puts one filter back.
func (r *recovery) filter(ctx context.Context, b []byte) error {
	m, segments, err := readEntry(b, limits())
	if err != nil {
		return fmt.Errorf("store: an entry of the catalogue: %w", err)
	}
	err = r.fill(ctx, m, segments)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.archive.entries[m.ID] = entry{bytes: b}
		return nil
	}
	if !errors.Is(err, umbel.ErrCorrupt) {
		return fmt.Errorf("store: filter %q: %w", m.Name, err)
	}
	return r.olderFilter(ctx, m, segments, err)
}

// fill restores a filter from its segments.
func (r *recovery) fill(ctx context.Context, m engine.Meta, segments []reference) error {
	const ahead = 4
	var reading sync.WaitGroup
	defer reading.Wait()
	index := segmentIndex(&m.State)
	err := r.engine.Restore(m, func(g engine.Segment, dst []byte) error {
		i := index(g)
		if len(segments) > ahead {
			r.pieces.ahead(segments[i:min(i+ahead, len(segments))], &reading)
		}
		return r.pieces.copy(ctx, segments[i], dst)
	})
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.copied[m.ID] = m.From
	}
	return err
}

// olderFilter puts a filter back of which the last snapshot has no whole copy: from the one
// before, with more of the log, or from the log alone if it is younger than that.
func (r *recovery) olderFilter(ctx context.Context, m engine.Meta, segments []reference, why error) error {
	r.o.Log.Warn("last snapshot of a filter unreadable; using the previous one", "filter", m.Name, "error", why)
	older, readable, err := r.olderEntry(ctx, m.ID)
	switch {
	case err != nil:
		return fmt.Errorf("store: filter %q: %w", m.Name, errors.Join(why, err))
	case older != nil:
		was, olderSegments, err := readEntry(older, limits())
		if err == nil {
			err = r.fill(ctx, was, olderSegments)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, umbel.ErrCorrupt) {
			return fmt.Errorf("store: filter %q: %w", m.Name, err)
		}
		why = errors.Join(why, err)
	case readable:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.owed[m.ID] = m.Name
		return nil
	}
	return r.hollow(ctx, m, segments, why)
}

// olderEntry returns what the snapshot before the last has of a filter. readable is false
// if that can't be told; if it is true and there is no entry, the log makes the filter.
func (r *recovery) olderEntry(ctx context.Context, id uint64) (entry []byte, readable bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.older == nil {
		r.older = make(map[uint64][]byte)
		if err := r.readOlder(ctx); err != nil {
			return nil, false, err
		}
	}
	return r.older[id], r.reads, nil
}

// readOlder reads the catalogue of the snapshot before the last. Where there was none, the
// log has to be there from its first change on. Called with mu held.
func (r *recovery) readOlder(ctx context.Context) error {
	if r.fellBack {
		return nil
	}
	previous := r.archive.previous
	if previous == nil {
		if r.reads = r.logIsWhole(ctx); r.reads {
			r.from, r.covered = 1, 0
		}
		return nil
	}
	entries, err := r.catalogue(ctx, previous)
	if errors.Is(err, umbel.ErrCorrupt) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, b := range entries {
		c := &statecode.Cursor{Rest: b}
		r.older[c.Uvarint()] = b
	}
	r.use(previous)
	r.reads = true
	return nil
}

// logIsWhole reports whether the log has the first change of all.
func (r *recovery) logIsWhole(ctx context.Context) bool {
	if first, last := r.log.Bounds(); first > 1 || last == 0 {
		return false
	}
	whole := false
	err := r.log.Read(ctx, 1, func(_ uint64, b []byte) error {
		begins, err := changelog.First(b)
		whole = err == nil && begins == 1
		return io.EOF
	})
	return whole && errors.Is(err, io.EOF)
}

// hollow restores a filter that has lost cells. It returns true for every key until it is created
// again.
func (r *recovery) hollow(ctx context.Context, m engine.Meta, segments []reference, why error) error {
	if err := r.loss("cells of filter %q, which returns true for every key until it is created again: %w", m.Name, why); err != nil {
		return err
	}
	m.Incomplete = true
	r.mu.Lock()
	r.hidden[m.ID] = true
	r.mu.Unlock()
	index := segmentIndex(&m.State)
	err := r.engine.Restore(m, func(g engine.Segment, dst []byte) error {
		if r.pieces.copy(ctx, segments[index(g)], dst) != nil {
			clear(dst)
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		err = r.standIn(m)
	}
	if err != nil && ctx.Err() == nil {
		return r.loss("filter %q: %w", m.Name, err)
	}
	return err
}

// standIn puts an empty filter of the same kind in the place of one whose remains no filter
// has. It is hidden, so that no key is missed.
func (r *recovery) standIn(m engine.Meta) error {
	v, err := r.engine.Kinds().Find(m.State.Kind)
	if err != nil {
		return err
	}
	f, err := v.New(umbel.Goal{Keys: 1, FPRate: .5, Hasher: m.State.Hasher}, nil)
	if err != nil {
		return err
	}
	m.State = f.State()
	var all [][]uint64
	for _, p := range statecode.Arrays(&m.State) {
		all = append(all, p.Words)
	}
	return r.engine.Restore(m, func(g engine.Segment, dst []byte) error {
		statecode.PutWords(dst, all[g.Array][g.Offset/8:][:len(dst)/8])
		return nil
	})
}
