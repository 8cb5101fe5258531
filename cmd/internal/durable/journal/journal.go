// Package journal writes the changes of an engine to the log. Changes are queued in their order and
// written as batches by one goroutine, while the next one is collected. A second goroutine commits them:
// up to four batches are in flight.
//
// Nothing waits for the disk in Append: a protocol calls Room before it changes filters, without
// locks, and Wait after. Journal.mu is the innermost lock; nothing is called with it held.
package journal

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Durability is the time at which a change is acknowledged.
type Durability uint8

const (
	Always   Durability = iota // after fsync
	EverySec                   // at once, unless the disk is a second behind
	None                       // at once; durable with the next snapshot
)

// errClosed is returned for changes after Close.
var errClosed = errors.New("closed")

const (
	// maxFull is the number of full batches from which Room waits: 64 MiB.
	maxFull = 64 << 20 / changes.MaxBatch
	// flushBytes is the size from which a batch is written although nobody waits for it.
	flushBytes = 64 << 10
	// maxDelay is the maximum time that a batch for which nobody waits collects changes. With the time
	// for the disk it is less than everySecLimit.
	maxDelay = time.Second / 2
	// everySecLimit is the age of the oldest queued change from which EverySec waits.
	everySecLimit = time.Second
	// maxFlight is the number of batches that may be written and not committed.
	maxFlight = 4
)

// Every batch fits into the log.
const _ = uint(wal.MaxBatch - changes.MaxBatch)

// Log orders batches and makes them durable: the log of this node (wal.Log), or one that several nodes share.
//
// Filters change in memory before their changes are committed. So these rules hold for a log of several nodes:
//
//   - Only the node that leads, and has applied all batches that were committed before, changes filters by itself.
//   - A batch is applied again only by others than the process that proposed it in this term.
//   - A process that no longer leads ends, and starts again from snapshot and log: memory contains changes that may
//     never be committed. They must not stay, even in kinds that only set bits: a later addition of such a key would
//     change nothing, would not be logged, and would be acknowledged.
//   - A batch whose Commit failed is committed again by number, never proposed a second time.
//   - A snapshot of a leader contains changes that are not committed. It may be published only when the last
//     position that it contains is committed.
//   - Durabilities everysec and none make replies early, never the sync.
//
// A position of package engine is the number of a change in the log, not of a process: the header of a batch
// contains the position of its first change. So all nodes that apply the same batches compute the same positions.
type Log interface {
	// Propose appends a batch of 1 to wal.MaxBatch bytes, with the scope that says what it concerns, and returns its
	// number, which is greater than that of the batch before. It does not wait until the batch is committed. After
	// an error the batch was not appended, and may be proposed again.
	Propose(ctx context.Context, batch, scope []byte) (number uint64, err error)
	// Commit waits until all batches that were proposed before are committed, and returns the number of the last
	// one. It may run at the same time as Propose. After an error it may be called again.
	Commit(ctx context.Context) (number uint64, err error)
}

// Options configure a journal.
type Options struct {
	Durability  Durability
	CommitDelay time.Duration // time that a batch waits for more changes
	// Failed is called with the error of each failed write, and reports whether it logged the error: otherwise the
	// journal does. nil: nothing is called.
	Failed func(error) (logged bool)
	// Growing is called before the queue grows by a batch of up to changes.MaxBatch bytes, with the bytes
	// that are queued and those that were written since the process began. It must be quick, and must
	// not call the journal except Refuse. nil: nothing is called.
	Growing func(queued, written uint64)
	// Committed is called for each batch with the time since its first change, Synced for each sync with
	// its duration. They must be quick. nil: nothing is called.
	Committed, Synced func(time.Duration)
	Log               *slog.Logger // nil: nowhere
}

// Journal is an engine.Journal. It is safe for concurrent use.
type Journal struct {
	log Log
	o   Options

	last    atomic.Uint64         // position of the last change; written with mu held
	kept    atomic.Uint64         // position of the last change in the log; written with mu held
	trouble atomic.Pointer[error] // why the last write failed; nil if it succeeded
	blocked atomic.Pointer[error] // why changes are refused, although writes may succeed
	closing atomic.Bool           // changes are refused
	crowded atomic.Bool           // there is no room; written with mu held
	woken   chan struct{}         // one message: the writer should look again

	mu       sync.Mutex
	freed    chan struct{}          // closed when crowded ends, or when waiting is pointless
	active   *batch                 // collects changes; nil if there are none
	full     []*batch               // to be written, in order
	flight   []*batch               // are written or committed now, in order
	troubles [2]error               // the last errors of Propose and Commit; trouble is the first of them
	wanted   engine.Position        // the last position that somebody waits for
	wantedAt time.Time              // when somebody began to wait for a change of active
	sleeping bool                   // the writer waits for woken
	retrying chan struct{}          // closed by Retry; nil if no attempt waits
	closed   bool                   // Append keeps nothing
	session  bool                   // the next batch is the first of the process
	number   uint64                 // of the last batch in the log
	from     uint64                 // of the first batch with a part of a change of another node that has not ended; 0: none
	long     map[*longPart]struct{} // long changes whose end is not in the log
	writing  engine.Change          // the change of appendLong, which would be allocated otherwise
	commits  uint64
	bytes    uint64
}

// New returns a journal that continues after the last change, and the last batch, of a log. Run writes
// it.
func New(l Log, last engine.Position, number uint64, o Options) *Journal {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Failed == nil {
		o.Failed = func(error) bool { return false }
	}
	j := &Journal{log: l, o: o, number: number, session: true, woken: make(chan struct{}, 1), long: make(map[*longPart]struct{})}
	j.last.Store(uint64(last))
	j.kept.Store(uint64(last))
	return j
}

// Last returns the position of the last change.
func (j *Journal) Last() engine.Position { return engine.Position(j.last.Load()) }

// Ready returns an error if the journal accepts no changes.
func (j *Journal) Ready() error {
	if j.closing.Load() {
		return errClosed
	}
	if p := j.blocked.Load(); p != nil {
		return *p
	}
	return j.err()
}

// ReadyToFree returns an error if the journal does not even accept changes that free space: Refuse has no effect
// on them.
func (j *Journal) ReadyToFree() error {
	if j.closing.Load() {
		return errClosed
	}
	return j.err()
}

// Admit is that of engine.Journal. The journal itself does not limit the size of filters.
func (j *Journal) Admit(uint64) error { return nil }

// Refuse makes Ready return err until Accept is called. Queued changes are still written.
func (j *Journal) Refuse(err error) { j.blocked.Store(&err) }

// Accept ends the effect of Refuse.
func (j *Journal) Accept() { j.blocked.Store(nil) }

// err returns why the last write failed, or nil.
func (j *Journal) err() error {
	if p := j.trouble.Load(); p != nil {
		return *p
	}
	return nil
}

// StopAccepting makes Ready return errClosed. Changes that are under way are still kept.
func (j *Journal) StopAccepting() { j.closing.Store(true) }

// Close ends Append. Queued changes are still written; then Run ends.
func (j *Journal) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.closing.Store(true)
	j.updateRoom()
	j.wake()
}

// ReplayFrom returns the number of the batch from which the log will contain all changes that it does
// not contain now, and the position of the last change that it contains.
func (j *Journal) ReplayFrom() (number uint64, kept engine.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	number = j.number + 1
	if j.from != 0 {
		number = min(number, j.from)
	}
	for l := range j.long {
		if l.number != 0 {
			number = min(number, l.number)
		}
	}
	return number, engine.Position(j.kept.Load())
}

// Pending returns the number of bytes that are not in the log, and the age of the oldest of them.
func (j *Journal) Pending() (n uint64, lag time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.queuedBytes(), j.lag()
}

// queuedBytes returns the number of bytes that are not in the log. The caller holds mu.
func (j *Journal) queuedBytes() (n uint64) {
	for b := range j.queued() {
		n += uint64(len(b.Bytes))
	}
	return n
}

// queued yields the batches that are not committed, in order. The caller holds mu.
func (j *Journal) queued() iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		for _, bs := range [][]*batch{j.flight, j.full} {
			for _, b := range bs {
				if !yield(b) {
					return
				}
			}
		}
		if j.active != nil {
			yield(j.active)
		}
	}
}

// lag returns the age of the oldest change that is not in the log. The caller holds mu.
func (j *Journal) lag() time.Duration {
	for b := range j.queued() {
		return time.Since(b.since)
	}
	return 0
}

// Counts returns the number of batches and bytes that were written to the log since the process began.
func (j *Journal) Counts() (batches, bytes uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.commits, j.bytes
}
