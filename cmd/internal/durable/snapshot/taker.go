// Package snapshot copies the filters of an engine to files, and reads the copies.
//
// A snapshot is taken while filters change. Each copy contains all changes up to one position and none
// after another; replaying the log from the lowest of these positions completes the copies. Only
// segments whose checksum differs from the last snapshot are written. The log keeps the batches that the
// previous snapshot needs, so that it can replace a damaged one.
//
// A Taker does one thing at a time, and a caller that waits for it can give up. It has no lock while it waits
// for the disk, except that changes of kinds that are not monotone wait while their filter is copied.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/event"
)

// Journal is what a Taker needs of package journal.
type Journal interface {
	Last() engine.Position
	ReplayFrom() (batch uint64, kept engine.Position)
	Sync(ctx context.Context, pos engine.Position) error
	Counts() (batches, bytes uint64)
}

// Options configure a Taker.
type Options struct {
	// Logged is false if the log contains no changes: then the snapshot has the names that the filters
	// have at one moment.
	Logged bool
	// LogBytes is the length of the log at which a snapshot is planned: see throttle. 0: any.
	LogBytes uint64
	Log      *slog.Logger
}

// Taker takes snapshots and deletes what they make obsolete. It is safe for concurrent use.
type Taker struct {
	files   *snapfile.Dir
	log     *wal.Log
	journal Journal
	engine  *engine.Engine
	o       Options

	hurry  atomic.Bool   // snapshots do not rest
	marked atomic.Uint64 // bytes of the log when the last snapshot was begun
	needed atomic.Uint64 // see Needed
	spent  atomic.Uint64 // bytes that the snapshot has written that is being taken

	required atomic.Bool   // a snapshot is due although nothing changed
	turn     chan struct{} // has one message while a snapshot is taken or files are deleted
	set      Set           // guarded by turn
	readers  int           // backups under way, which need all files and batches; guarded by turn

	status struct {
		sync.Mutex
		Status
	}
}

// Status describes the last snapshot.
type Status struct {
	Running bool
	Began   time.Time // of the last attempt
	Last    time.Time // zero if there is none
	Took    time.Duration
	Err     error // of the last attempt
}

// New returns a Taker that continues with the snapshots on disk.
func New(files *snapfile.Dir, l *wal.Log, j Journal, e *engine.Engine, set Set, o Options) *Taker {
	t := &Taker{files: files, log: l, journal: j, engine: e, set: set, o: o, turn: make(chan struct{}, 1)}
	t.status.Last = set.Current.Time()
	return t
}

// Status returns the state of the last snapshot.
func (t *Taker) Status() Status {
	t.status.Lock()
	defer t.status.Unlock()
	return t.status.Status
}

// setStatus changes the status.
func (t *Taker) setStatus(change func(*Status)) {
	t.status.Lock()
	defer t.status.Unlock()
	change(&t.status.Status)
}

// LogLength returns the number of bytes that were written to the log since the last snapshot was begun.
func (t *Taker) LogLength() uint64 { return t.LogLengthAt(t.written()) }

// LogLengthAt is LogLength when written bytes were written since the process began.
func (t *Taker) LogLengthAt(written uint64) uint64 { return written - min(t.marked.Load(), written) }

func (t *Taker) written() uint64 {
	_, bytes := t.journal.Counts()
	return bytes
}

// Hurry determines whether snapshots take no rests.
func (t *Taker) Hurry(hurry bool) { t.hurry.Store(hurry) }

// Require makes the next call of Take take a snapshot even if nothing changed.
func (t *Taker) Require() { t.required.Store(true) }

// lock waits until no snapshot is taken and no file is deleted. That may take long: it returns the error
// of ctx if ctx is done first.
func (t *Taker) lock(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Taker) unlock() { <-t.turn }

// Take copies all filters that changed since the last snapshot and truncates the log. Filters can be
// queried and changed meanwhile. If nothing changed, it does nothing.
func (t *Taker) Take(ctx context.Context) error {
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	required := t.required.Swap(false)
	if c := t.set.Current; c != nil && c.Position == t.journal.Last() && !required {
		return nil
	}
	begin := time.Now()
	t.setStatus(func(st *Status) { st.Running, st.Began = true, begin })
	n, err := t.take(ctx)
	err = withUser(err)
	took := time.Since(begin)
	t.setStatus(func(st *Status) {
		st.Running, st.Took, st.Err = false, took, err
		if err == nil {
			st.Last = t.set.Current.Time()
		}
	})
	if err != nil {
		if required {
			t.Require()
		}
		t.o.Log.Error("snapshot failed; log not truncated", event.SnapshotFailed, "error", err)
		return err
	}
	t.o.Log.Info("snapshot taken", event.Snapshot, "filters", t.set.Current.Filters, "bytes", n, "took", took)
	return nil
}

// withUser adds to an error of missing permissions which user needs them.
func withUser(err error) error {
	if user := os.Getuid(); user >= 0 && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; the node runs as user %d, which must own the directory, with mode 0700", err, user)
	}
	return err
}

// take takes a snapshot and returns the number of bytes of pieces that it wrote. The caller holds turn.
func (t *Taker) take(ctx context.Context) (uint64, error) {
	next := &Snapshot{Taken: time.Now().UnixMilli(), Number: t.files.LastNumber() + 1}
	if t.o.Logged {
		next.Batch, next.Covered = t.journal.ReplayFrom()
	} else {
		_, last := t.log.Bounds()
		next.Batch = last + 1
	}
	written, upTo := t.written(), t.journal.Last()
	next.Missing = t.engine.MissingNames()
	defer t.spent.Store(0)
	c := newCopier(ctx, t, next)
	if err := t.copyAll(ctx, c); err != nil {
		if e := t.files.Discard(); e != nil {
			t.o.Log.Warn("could not delete the files of a failed snapshot; will retry", event.CleanupFailed, "error", e)
		}
		return c.packer.written, err
	}
	if err := t.files.Publish(next.Number, uint64(next.Position), Manifest{Snapshot: next}.Append(nil)); err != nil {
		return c.packer.written, err
	}
	t.set = Set{Current: next, Previous: t.set.Current, upTo: upTo, live: c.live, liveBefore: t.set.live}
	t.marked.Store(written)
	if err := t.tidy(ctx); err != nil {
		t.o.Log.Warn("could not delete obsolete snapshot data; will retry", event.CleanupFailed, "error", err)
	}
	return c.packer.written, nil
}

// copyAll makes the copies of a snapshot and waits until the log has all changes that they may have.
func (t *Taker) copyAll(ctx context.Context, c *copier) (err error) {
	next := c.snapshot
	if next.Catalog, err = c.all(ctx); err != nil {
		return err
	}
	next.Position = t.journal.Last()
	if t.o.Logged {
		return t.journal.Sync(ctx, next.Position)
	}
	next.Covered = next.Position
	return nil
}

// Hold returns the last snapshot, nil if there is none. Until Release, it is not deleted, and the log is
// not truncated. Hold waits for a snapshot that is being taken, or returns the error of ctx.
func (t *Taker) Hold(ctx context.Context) (*Snapshot, error) {
	if err := t.lock(ctx); err != nil {
		return nil, err
	}
	defer t.unlock()
	t.readers++
	return t.set.Current, nil
}

// Release ends the effect of Hold.
func (t *Taker) Release(ctx context.Context) error {
	_ = t.lock(context.WithoutCancel(ctx)) // it has no other end
	defer t.unlock()
	t.readers--
	return t.tidy(ctx)
}

// Tidy truncates the log and deletes files, as far as neither of the two snapshots needs them. It does
// nothing in a directory that was opened for reading.
func (t *Taker) Tidy(ctx context.Context) error {
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	return t.tidy(ctx)
}

// tidy is Tidy. The caller holds turn.
func (t *Taker) tidy(ctx context.Context) error {
	if t.readers > 0 || t.set.Previous == nil || t.files.ReadOnly() {
		return nil
	}
	return t.delete(ctx, min(t.set.Previous.Batch, t.set.Current.Batch), t.set.Current.Number, t.set.Previous.Number)
}

// GiveUpPrevious deletes the previous snapshot and the part of the log that only it needs. It returns an
// error if that is not possible.
func (t *Taker) GiveUpPrevious(ctx context.Context) error {
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	first, _ := t.log.Bounds()
	if t.readers > 0 || t.set.Current == nil || t.set.Previous == nil && first >= t.set.Current.Batch {
		return errors.New("nothing can be deleted")
	}
	t.set.DropPrevious()
	t.o.Log.Warn("deleting the previous snapshot, because the disk is full", event.SnapshotGivenUp)
	return t.delete(ctx, t.set.Current.Batch, t.set.Current.Number)
}

// delete deletes the log before a batch, and files that the snapshots with these numbers do not need.
func (t *Taker) delete(ctx context.Context, batch uint64, keep ...uint64) error {
	err := t.log.Purge(ctx, batch)
	if err != nil {
		err = fmt.Errorf("log not truncated: %w", err)
	}
	return errors.Join(err, t.files.Sweep(keep, func(piece uint64) bool {
		return t.set.live[piece] > 0 || t.set.liveBefore[piece] > 0
	}))
}
