package recovery

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"golang.org/x/sync/errgroup"
)

// restorer restores the filters of the last snapshot.
type restorer struct {
	log    *wal.Log
	files  *snapfile.Dir
	engine *engine.Engine
	o      Options
	losses *losses
	pieces *snapshot.Cache

	set          snapshot.Set
	snapshot     time.Time // of the snapshot that was read
	damaged      bool      // something was or must be read from another copy; during restore guarded by mu
	usedPrevious bool      // the last snapshot was unreadable

	used    bool            // from and covered are set
	from    uint64          // the first batch to be replayed
	covered engine.Position // up to here changes need not be in the log
	reach   engine.Position // up to here copies may have changes, and the log must reach

	mu            sync.Mutex             // guards what follows
	older         map[uint64][]byte      // entries of the previous snapshot, after it was needed
	olderReadable bool                   // older is complete
	missing       map[uint64]engine.Meta // filters that the log must create
	restored      map[uint64]extent      // filters
}

func newRestorer(l *wal.Log, files *snapfile.Dir, e *engine.Engine, o Options) *restorer {
	return &restorer{
		log: l, files: files, engine: e, o: o, losses: &losses{o: o}, pieces: snapshot.NewCache(files),
		missing: make(map[uint64]engine.Meta), restored: make(map[uint64]extent),
	}
}

// findSnapshots finds the last two usable snapshots.
func (r *restorer) findSnapshots() error {
	list, err := r.files.Manifests()
	if err != nil {
		return err
	}
	found := false
	for _, m := range list {
		if m.Err != nil {
			r.damaged = true
			r.o.Log.Warn("manifest of a snapshot is damaged", event.DamageRepaired, "number", m.Number, "copies", m.Whole, "error", m.Err)
		}
		if m.Interrupted {
			r.o.Log.Info("the process ended while it wrote or removed a manifest, which is completed", event.SnapshotInterrupted, "number", m.Number)
			r.damaged = !r.files.ReadOnly() && r.files.Complete(m) != nil || r.damaged
		}
		if m.Whole == 0 {
			if !r.isDamage(m.Err) && !errors.Is(m.Err, snapfile.ErrDamaged) {
				return m.Err
			}
			r.reach = max(r.reach, engine.Position(m.Position)) // its name is intact
			continue
		}
		s, err := readManifest(m)
		if err != nil {
			return err
		}
		if !found {
			found, r.set.Current = true, s
			if s != nil {
				r.engine.SetMissingNames(s.Missing)
			}
			continue
		}
		r.set.Previous = s
		break
	}
	if len(list) > 0 && !found {
		r.losses.missNames(0)
		return r.losses.add("the manifests of all snapshots: filters that the log does not create are gone: %w", list[0].Err)
	}
	return nil
}

// readManifest returns the snapshot of a manifest, nil if it has none.
func readManifest(m snapfile.Manifest) (*snapshot.Snapshot, error) {
	decoded, err := snapshot.ReadManifest(m.Data)
	switch s := decoded.Snapshot; {
	case err != nil:
		return nil, err
	case decoded.Unfinished:
		return nil, errors.New("the directory contains an incomplete restore; remove it and restore again")
	case s != nil && s.Number != m.Number:
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "manifest %d describes snapshot %d", m.Number, s.Number)
	default:
		return s, nil
	}
}

// restore restores the filters of the last snapshot.
func (r *restorer) restore(ctx context.Context) error {
	if r.set.Current == nil {
		r.from = 1
		return nil
	}
	r.use(r.set.Current)
	entries, err := r.catalog(ctx, r.set.Current)
	if r.isDamage(err) {
		entries, err = r.previousCatalog(ctx, err)
	}
	if err != nil {
		return err
	}
	r.snapshot = r.set.Current.Time()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, b := range entries {
		group.Go(func() error { return r.filter(ctx, b) })
	}
	return group.Wait()
}

// use makes the replay begin where a snapshot needs it.
func (r *restorer) use(s *snapshot.Snapshot) {
	if !r.used {
		r.used, r.from, r.covered = true, s.Batch, s.Covered
	}
	r.from, r.covered = min(r.from, s.Batch), min(r.covered, s.Covered)
	r.reach = max(r.reach, s.Position)
}

// useWholeLog makes the replay begin with the first change.
func (r *restorer) useWholeLog() { r.from, r.covered = 1, 0 }

// catalog reads the entries of a snapshot.
func (r *restorer) catalog(ctx context.Context, s *snapshot.Snapshot) (entries [][]byte, err error) {
	err = snapshot.ReadCatalog(ctx, r.pieces, s, func(b []byte) error {
		entries = append(entries, b)
		return nil
	})
	if err == nil && uint64(len(entries)) != s.Filters {
		err = sentinel.Errorf(umbel.ErrCorrupt, "%d filters in the catalog, want %d", len(entries), s.Filters)
	}
	return entries, err
}

// filter restores one filter.
func (r *restorer) filter(ctx context.Context, b []byte) error {
	m, segments, err := snapshot.ReadEntry(b, Limits())
	if err != nil {
		return fmt.Errorf("an entry of the catalog: %w", err)
	}
	err = r.fill(ctx, m, segments, r.set.Current)
	if err == nil {
		return nil
	}
	if !r.isDamage(err) {
		return fmt.Errorf("filter %q: %w", m.Name, err)
	}
	r.mu.Lock()
	r.damaged = true
	r.set.MarkUnusable(m.ID)
	r.mu.Unlock()
	return r.olderFilter(ctx, m, segments, err)
}

// isDamage reports whether an error means that a part of a snapshot cannot be used: it is missing or
// altered, or the disk cannot read it and its loss is accepted.
func (r *restorer) isDamage(err error) bool {
	return errors.Is(err, umbel.ErrCorrupt) || r.o.AcceptLoss && errors.Is(err, snapfile.ErrUnreadable)
}

// fill restores a filter from its segments in a snapshot.
func (r *restorer) fill(ctx context.Context, m engine.Meta, segments []snapshot.Reference, s *snapshot.Snapshot) error {
	const ahead = 4
	index := snapshot.SegmentIndex(&m.State)
	err := r.engine.Restore(m, func(g engine.Segment, dst []byte) error {
		i := index(g)
		if next := i + ahead; next < len(segments) {
			r.pieces.Prefetch(segments[next], segments[next-1])
		}
		return r.pieces.Copy(ctx, segments[i], dst)
	})
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.restored[m.ID] = extent{m.From, max(m.From, s.Covered)}
	}
	return err
}
