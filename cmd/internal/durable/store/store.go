// Package store makes the filters of an engine durable. It opens a directory of data, schedules
// snapshots, leaves full disks, and closes everything in order. The parts are packages of their own, the
// lowest first:
//
//	statecode   encodes the shapes of states
//	changes     encodes changes as batches
//	journal     queues changes and writes them to the log (wal)
//	snapshot    copies filters to files (snapfile)
//	recovery    restores filters from snapshots and the log
//	backup      writes both to one stream, and reads it
//
// Lock order: snapshot.Taker.turn, the locks of the engine, Journal.mu. Append never waits; Room and Begin,
// which wait while the queue is full, are called without locks. docs/locks.md has the locks of all
// packages.
package store

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/journal"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
)

// Durability is the time at which a change is acknowledged.
type Durability = journal.Durability

// The durabilities: see package journal.
const (
	Always   = journal.Always
	EverySec = journal.EverySec
	None     = journal.None
)

// ErrLost is wrapped by errors that report missing durable data.
var ErrLost = recovery.ErrLost

// Remedy ends the errors that report missing or unreadable data.
const (
	Remedy           = recovery.Remedy
	UnreadableRemedy = recovery.UnreadableRemedy
)

// Report describes what a start, a check or a verification found.
type Report = recovery.Report

// Options configure a store.
type Options struct {
	Durability       Durability
	CommitDelay      time.Duration  // time that a batch waits for more changes
	SnapshotInterval time.Duration  // 0: only on request
	SnapshotBytes    uint64         // growth of the log that triggers a snapshot; 0: off
	Reserve          uint64         // bytes kept free for snapshots on a full disk; 0: none
	Disk             *budget.Budget // limits the files of log and snapshots, which take from it; nil: no limit
	Others           *budget.Budget // what other files take of Disk for long; nil: nothing
	// AcceptLoss makes Open continue if durable changes or cells are missing. It marks the filters
	// that may lack some as incomplete: queries return true for every key until they are created
	// again. The report lists them.
	AcceptLoss bool
	Lost       string       // see recovery.Options
	Check      bool         // see recovery.Options
	Log        *slog.Logger // nil: nowhere
	Seed       []byte       // of the hash of new filters, for backups; nil: none
	// Follow makes the store begin as that of a node that follows another: see Store.Follow. Durability is not None.
	Follow bool
	// Committed and Synced are those of journal.Options.
	Committed, Synced func(time.Duration)
}

// Store is the journal of an engine. It is safe for concurrent use.
type Store struct {
	log     *wal.Log
	files   *snapfile.Dir
	engine  *engine.Engine
	o       Options
	journal *journal.Journal
	taker   *snapshot.Taker

	stop    context.CancelFunc // ends scheduled snapshots
	abort   context.CancelFunc // ends the writer, which otherwise ends when all is written
	run     func()             // begins the writer
	runs    sync.WaitGroup     // scheduled snapshots
	writing sync.WaitGroup     // the writer
	closed  sync.Once
	full    atomic.Pointer[error] // the disk was full for this reason, and is not known to have room again
	free    atomic.Int64          // bytes that the file system had left when measure was called
	kick    chan struct{}         // makes schedule look at once
	escape  escape                // of schedule
	episode episode

	following atomic.Pointer[error] // why this node makes no changes: it follows another one; nil: it makes changes
	follower  *recovery.Follower    // of a store that followed
}

// Open restores the filters of e, which must be empty and not yet in use, from the snapshots in files
// and the log. It becomes the engine's journal (Engine.SetJournal). The report describes what was
// found. The caller closes the log after the store. The error wraps ErrLost if durable data is
// missing.
func Open(ctx context.Context, l *wal.Log, files *snapfile.Dir, e *engine.Engine, o Options) (*Store, Report, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r, err := recovery.Run(ctx, l, files, e, recovery.Options{AcceptLoss: o.AcceptLoss, Lost: o.Lost, Check: o.Check, Follow: o.Follow, Log: o.Log})
	if err != nil {
		return nil, r.Report, err
	}
	s := &Store{log: l, files: files, engine: e, o: o, kick: make(chan struct{}, 1), escape: noEscape, episode: episode{first: make(chan error, 1)}}
	s.o.Log = newQuiet(o.Log, &s.episode)
	o = s.o
	s.journal = journal.New(l, r.Position, r.Batch, journal.Options{Durability: o.Durability, CommitDelay: o.CommitDelay,
		Failed: s.noteFailed, Growing: s.growing, Committed: o.Committed, Synced: o.Synced, Log: o.Log})
	s.taker = snapshot.New(files, l, positions{s.journal, s}, e, r.Set, snapshot.Options{Logged: o.Durability != None, LogBytes: o.SnapshotBytes, Log: o.Log})
	if !files.ReadOnly() {
		s.prepare(ctx, r.Damaged)
		s.warnLimit()
	}
	e.SetJournal(s) // before the first snapshot
	if o.Follow {
		s.follower = r.Follower
		s.journal.Applied(r.Position)
		s.journal.Followed(r.Batch, s.follower.Open(), 0)
		s.SetLeader("")
		e.Defer(true)
	} else if len(r.Report.Lost) > 0 && !files.ReadOnly() {
		e.RecordLosses()
	}
	background, stop := context.WithCancel(context.Background())
	writing, abort := context.WithCancel(context.Background())
	s.stop, s.abort = stop, abort
	s.run = func() { s.writing.Go(func() { s.journal.Run(writing) }) }
	if !o.Follow {
		s.run()
	}
	if !files.ReadOnly() {
		s.runs.Go(func() { s.schedule(background, r.Damaged) })
		s.runs.Go(func() { s.logRefusals(background) })
	}
	return s, r.Report, nil
}

// prepare deletes what a process that ended left, and makes the reserve. If something is damaged, nothing
// is deleted before the next snapshot. If the disk is full, changes are refused from the start.
func (s *Store) prepare(ctx context.Context, damaged bool) {
	if damaged {
		s.taker.Require()
	} else if err := s.taker.Tidy(ctx); err != nil {
		s.o.Log.Warn("could not delete obsolete snapshot data; will retry", event.CleanupFailed, "error", err)
	}
	if err := s.reserve(); isFull(err) {
		s.noteFull(err) // before the log takes the room that the snapshot needs
	} else if err != nil {
		s.warnReserve(err)
	}
}

// Room is that of the journal.
func (s *Store) Room(ctx context.Context) error { return s.journal.Room(ctx) }

// HasRoom is that of the journal.
func (s *Store) HasRoom() bool { return s.journal.HasRoom() }

// Append is that of engine.Journal.
func (s *Store) Append(c engine.Change) engine.Position {
	pos := s.journal.Append(c)
	if s.full.Load() != nil {
		s.wake() // it may have freed enough
	}
	return pos
}

// Begin is that of engine.Journal.
func (s *Store) Begin(c engine.Change) (engine.LongChange, error) {
	if err := s.role(); err != nil {
		return nil, err
	}
	l, err := s.journal.Begin(c)
	return l, s.counted(err)
}

// Last is that of engine.Journal.
func (s *Store) Last() engine.Position { return s.journal.Last() }

// Wait is that of the journal.
func (s *Store) Wait(ctx context.Context, pos engine.Position) error { return s.journal.Wait(ctx, pos) }

// Kept is that of the journal.
func (s *Store) Kept(pos engine.Position) bool { return s.journal.Kept(pos) }

// Sync returns when all changes that were appended before are durable. With Durability None, it takes a
// snapshot.
func (s *Store) Sync(ctx context.Context) error {
	if s.o.Durability == None {
		return s.Snapshot(ctx)
	}
	return positions{s.journal, s}.Sync(ctx, s.Last())
}

// Snapshot copies all filters that changed since the last snapshot and truncates the log. It returns soon
// after ctx is done, also if the disk does not respond.
func (s *Store) Snapshot(ctx context.Context) error {
	return within(ctx, func() error { return s.snapshot(ctx) })
}

// snapshot is Snapshot, but returns only when nothing is written any more.
func (s *Store) snapshot(ctx context.Context) error {
	s.measure()
	err := s.taker.Take(ctx)
	if err != nil {
		s.noteFull(err)
		return err
	}
	s.growReserve()
	return nil
}

// schedule takes snapshots when they are due: by time, by the length of the log, and when the disk is
// full.
func (s *Store) schedule(ctx context.Context, damaged bool) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	if damaged {
		s.renew(ctx)
	}
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		case <-tick.C:
		}
		s.measure()
		s.endEpisode()
		if s.full.Load() == nil {
			s.escape = noEscape
			if err := s.checkMaxDisk(0); err != nil {
				s.noteFull(err)
			} else {
				s.accept() // growing knew only an earlier estimate
			}
		}
		if s.full.Load() != nil {
			s.leaveFull(ctx)
			last = time.Now()
			continue
		}
		byTime := s.o.SnapshotInterval > 0 && time.Since(last) >= s.o.SnapshotInterval
		byBytes := s.o.SnapshotBytes > 0 && s.taker.LogLength() >= s.o.SnapshotBytes
		if !byTime && !byBytes && !s.nearMaxDisk() && !s.nearFull() || s.journal.Ready() != nil {
			continue
		}
		_ = s.snapshot(ctx) // it logs its error
		last = time.Now()
	}
}

// renew takes two snapshots, after which older ones, and the log before the first one, are not needed.
func (s *Store) renew(ctx context.Context) {
	s.taker.Require()
	if s.snapshot(ctx) == nil {
		s.taker.Require()
		_ = s.snapshot(ctx) // it logs its error
	}
}

// Backup writes the last snapshot and the log after it to w, that is, all changes that were appended
// before Backup was called. Meanwhile nothing of them is deleted.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	if err := s.Sync(ctx); err != nil {
		return err
	}
	last, err := s.taker.Hold(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := s.taker.Release(context.WithoutCancel(ctx)); err != nil {
			s.o.Log.Warn("cleanup after backup failed", event.CleanupFailed, "error", err)
		}
	}()
	return backup.Write(ctx, w, s.log, s.files, last, s.o.Seed)
}

// Status is the state of a store, for metrics.
type Status struct {
	Pending              uint64        // bytes that wait to be written
	Lag                  time.Duration // age of the oldest change that is not on disk
	LogBytes             uint64        // size of log, snapshots and reserve on disk
	MaxBytes             uint64        // limit of these files and others; 0: none
	Left                 uint64        // bytes that files may still take; math.MaxInt64 if that is unknown
	Needed               uint64        // bytes that the next snapshot may write
	Missing              uint64        // bytes that must be freed before changes are accepted
	NeededMax            uint64        // MaxBytes with which refused changes are accepted; 0: it is not too low
	Snapshotting         bool
	SnapshotBegan        time.Time // of the running snapshot
	LastSnapshot         time.Time
	LastSnapshotTook     time.Duration
	LastSnapshotErr      error
	Commits, CommitBytes uint64
	Refused              uint64 // changes that were refused since the process began
	Err                  error  // why changes are refused
}

// Status returns the state of the store.
func (s *Store) Status() Status {
	last := s.taker.Status()
	st := Status{Snapshotting: last.Running, SnapshotBegan: last.Began, LastSnapshot: last.Last, LastSnapshotTook: last.Took, LastSnapshotErr: last.Err}
	st.Pending, st.Lag = s.journal.Pending()
	st.Commits, st.CommitBytes = s.journal.Counts()
	st.Refused = s.episode.all.Load()
	st.LogBytes = s.log.Bytes() + s.files.Bytes() + uint64(s.files.Reserved())
	st.MaxBytes, st.Left, st.Needed = s.o.Disk.Limit(), uint64(max(s.left(), 0)), s.taker.Needed()
	if s.full.Load() != nil {
		st.Missing = s.lacks(leastReserve)
		st.NeededMax = s.neededLimit(st.Missing)
	}
	if st.Err = s.journal.Ready(); st.Err == nil {
		st.Err = s.log.Health()
	}
	return st
}
