package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/journal"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
)

// Durability is the time at which a change is acknowledged.
type Durability = journal.Durability

// The durabilities: see package journal.
const (
	Always   = journal.Always
	EverySec = journal.EverySec
	None     = journal.None
)

// ErrClosed is returned for changes after Close.
var ErrClosed = journal.ErrClosed

// Options configure a store.
type Options struct {
	Durability       Durability
	CommitDelay      time.Duration // time that a batch waits for more changes
	SnapshotInterval time.Duration // 0: only on request
	SnapshotBytes    uint64        // growth of the log that triggers a snapshot; 0: off
	Reserve          uint64        // bytes kept free for snapshots on a full disk; 0: none
	// AcceptLoss makes Open continue if durable changes or cells are missing. It marks the filters
	// that may lack some as incomplete: queries return true for every key until they are made
	// again. The report lists them.
	AcceptLoss bool
	Log        *slog.Logger // nil: nowhere
}

// Store is the journal of an engine. It is safe for concurrent use.
type Store struct {
	log     oplog.Log
	files   *snapfile.Dir
	engine  *engine.Engine
	o       Options
	journal *journal.Journal

	stop   context.CancelFunc // of what runs in the background
	abort  context.CancelFunc // of keep, which otherwise ends when all is written
	runs   sync.WaitGroup
	keeps  sync.WaitGroup
	closed sync.Once
	hurry  atomic.Bool   // a snapshot gives way to nobody
	full   atomic.Bool   // the disk was full, and is not known to have room again
	kick   chan struct{} // starts an attempt to leave a full disk
	marked atomic.Uint64 // bytes of the log when the last snapshot was made

	// snapping is held while a snapshot is taken or files of snapshots are deleted.
	snapping sync.Mutex
	archive  archive
	owing    bool // a snapshot is due though nothing changed
	reading  int  // backups under way, which need all files and batches

	status struct {
		sync.Mutex
		Status
	}
}

// Open restores the filters of e, which must be empty and not yet in use, from the snapshots in files
// and the log. It becomes the engine's journal (Engine.SetJournal). The report describes what was
// found. The caller closes the log after the store. The error wraps ErrLost if durable data is
// missing.
func Open(ctx context.Context, l oplog.Log, files *snapfile.Dir, e *engine.Engine, o Options) (*Store, Report, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r, err := recoverAll(ctx, l, files, e, o)
	if err != nil {
		return nil, r.report, err
	}
	s := &Store{
		log: l, files: files, engine: e, o: o, archive: r.archive, owing: r.lost || r.damaged,
		kick: make(chan struct{}, 1),
	}
	s.journal = journal.New(l, r.position, r.batch, journal.Options{Durability: o.Durability, CommitDelay: o.CommitDelay, Failed: s.noteFull, Log: o.Log})
	s.status.LastSnapshot = r.archive.current.time()
	background, stop := context.WithCancel(context.Background())
	writing, abort := context.WithCancel(context.Background())
	s.stop, s.abort = stop, abort
	if !s.owing { // after damage, nothing is deleted before the next snapshot
		if err := s.tidy(ctx); err != nil && !errors.Is(err, snapfile.ErrReadOnly) && !errors.Is(err, oplog.ErrReadOnly) {
			o.Log.Warn("could not delete obsolete snapshot data; will retry", "error", err)
		}
	}
	if err := s.reserve(); err != nil && !errors.Is(err, snapfile.ErrReadOnly) {
		o.Log.Warn("no room for the reserve; a full disk may have to be cleared by hand", "bytes", o.Reserve, "error", err)
	}
	e.SetJournal(s) // before the first snapshot
	s.keeps.Go(func() { s.journal.Run(writing) })
	s.runs.Go(func() { s.snapshots(background) })
	return s, r.report, nil
}

// Report describes what a start or a check found.
type Report struct {
	Filters  int
	Bytes    uint64    // memory of the filters
	Snapshot time.Time // time of the snapshot that was read; zero if none
	Batches  uint64    // replayed
	Changes  uint64
	Digests  uint64
	Took     time.Duration
	Torn     string   // what was discarded at the end of the log
	Lost     []string // with AcceptLoss: what is lost
}

// Room, Ready, Append, Begin, Last and Wait are those of the journal.
func (s *Store) Room(ctx context.Context) error { return s.journal.Room(ctx) }

func (s *Store) Ready() error { return s.journal.Ready() }

func (s *Store) Append(c engine.Change) engine.Position { return s.journal.Append(c) }

func (s *Store) Begin(c engine.Change) (engine.LongChange, error) { return s.journal.Begin(c) }

func (s *Store) Last() engine.Position { return s.journal.Last() }

func (s *Store) Wait(ctx context.Context, pos engine.Position) error { return s.journal.Wait(ctx, pos) }

// written returns the number of bytes that were written to the log since the process began.
func (s *Store) written() uint64 {
	_, bytes := s.journal.Counts()
	return bytes
}

// Sync returns when all that was appended before is on the disk. With Durability None that
// takes a snapshot.
func (s *Store) Sync(ctx context.Context) error {
	if s.o.Durability == None {
		return s.Snapshot(ctx)
	}
	return s.journal.Sync(ctx, s.Last())
}

// snapshots makes snapshots when it is time to, and when the log has become long.
func (s *Store) snapshots(ctx context.Context) {
	const look = time.Second
	tick := time.NewTicker(look)
	defer tick.Stop()
	s.clear(ctx)
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		case <-tick.C:
			if s.full.Load() && time.Since(last) < fullRetry {
				continue
			}
		}
		if s.full.Load() {
			s.leaveFull(ctx)
			last = time.Now()
			continue
		}
		byTime := s.o.SnapshotInterval > 0 && time.Since(last) >= s.o.SnapshotInterval
		byBytes := s.o.SnapshotBytes > 0 && s.written()-s.marked.Load() >= s.o.SnapshotBytes
		if !byTime && !byBytes || s.Ready() != nil {
			continue
		}
		_ = s.Snapshot(ctx) // it logs its error
		last = time.Now()
	}
}

// clear makes the two snapshots after which a log with holes isn't needed any more.
func (s *Store) clear(ctx context.Context) {
	for range 2 {
		s.snapping.Lock()
		owing := s.owing
		s.snapping.Unlock()
		if !owing || s.Snapshot(ctx) != nil {
			return
		}
		s.owe()
	}
	s.snapping.Lock()
	s.owing = false
	s.snapping.Unlock()
}

// Status is how the store does, for metrics.
type Status struct {
	Pending              uint64        // bytes that wait to be written
	Lag                  time.Duration // age of the oldest change that isn't on the disk
	LogBytes             uint64        // size of the log and the snapshots on disk
	Snapshotting         bool
	LastSnapshot         time.Time
	LastSnapshotTook     time.Duration
	LastSnapshotErr      error
	Commits, CommitBytes uint64
	Err                  error // why nothing can be kept now
}

// Status returns how the store does.
func (s *Store) Status() Status {
	s.status.Lock()
	st := s.status.Status
	s.status.Unlock()
	st.Pending, st.Lag = s.journal.Pending()
	st.Commits, st.CommitBytes = s.journal.Counts()
	st.LogBytes = s.log.Bytes() + s.files.Bytes()
	if st.Err = s.Ready(); st.Err == nil {
		st.Err = s.log.Health()
	}
	return st
}

// note changes the status.
func (s *Store) note(change func(*Status)) {
	s.status.Lock()
	defer s.status.Unlock()
	change(&s.status.Status)
}

// Close writes what is pending, makes a snapshot if the options say so, and ends. When ctx
// is done it gives up what isn't written; the error says so. It may be called again.
func (s *Store) Close(ctx context.Context) error {
	var err error
	s.closed.Do(func() { err = s.close(ctx) })
	return err
}

func (s *Store) close(ctx context.Context) error {
	s.journal.StopAccepting()
	s.stop()
	// Who waits for room may hold a filter for which a snapshot waits.
	defer context.AfterFunc(ctx, func() {
		s.journal.Close()
		s.abort()
	})()
	var errs []error
	fails := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("store: %s: %w", what, err))
		}
	}
	fails("snapshot does not end", within(ctx, func() error { s.runs.Wait(); return nil }))
	switch {
	case s.o.Durability != None:
		fails("changes not written", s.journal.Drain(ctx))
	case len(errs) == 0:
		s.hurry.Store(true)
		fails("last snapshot", within(ctx, func() error { return s.Snapshot(ctx) }))
	}
	s.journal.Close()
	if len(errs) > 0 {
		s.abort()
	}
	fails("write to the log does not end", within(ctx, func() error { s.keeps.Wait(); return nil }))
	s.abort()
	return errors.Join(errs...)
}

// grace is the time that Close waits after its context is done. By then everything has been
// cancelled, but a call of the operating system may hang.
const grace = time.Second

// within returns the result of f, or the error of ctx if f has not returned at the end of grace.
func within(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}
