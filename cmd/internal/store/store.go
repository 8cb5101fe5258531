package store

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// Durability says when a change is acknowledged.
type Durability uint8

const (
	Always   Durability = iota // when it is on the disk
	EverySec                   // at once; it is on the disk within a second
	None                       // at once; it is on the disk with the next snapshot
)

// Options say how a store works.
type Options struct {
	Durability       Durability
	CommitDelay      time.Duration // how long a group waits for more; 0: not at all
	SnapshotInterval time.Duration // 0: only when asked
	SnapshotBytes    uint64        // a snapshot is made when the log is longer
	AcceptLoss       bool          // go on over holes, and say what is lost
	Log              *slog.Logger
}

// Store is the journal of an engine. Its methods may be called concurrently.
type Store struct{ _ int }

// Open reads the log into e, which must be empty and is then given the store as its
// journal by the caller (Engine.SetJournal), and begins to write. The report says what was found.
func Open(ctx context.Context, l oplog.Log, e *engine.Engine, o Options) (*Store, Report, error) {
	panic("todo")
}

// Report is what a start, or a check, found.
type Report struct {
	Filters  int
	Bytes    uint64 // of cells
	Snapshot time.Time
	Batches  uint64 // replayed
	Changes  uint64
	Digests  uint64
	Took     time.Duration
	Torn     string   // what was cut at the end, if anything
	Lost     []string // with AcceptLoss: what is lost
}

// Ready, Append, Last: see engine.Journal.
func (s *Store) Ready() error                           { panic("todo") }
func (s *Store) Append(c engine.Change) engine.Position { panic("todo") }
func (s *Store) Last() engine.Position                  { panic("todo") }

// Wait returns when the change at pos is kept as the durability promises, or why it isn't.
func (s *Store) Wait(ctx context.Context, pos engine.Position) error { panic("todo") }

// Sync returns when all that was appended before is on the disk.
func (s *Store) Sync(ctx context.Context) error { panic("todo") }

// Snapshot copies all filters that changed since the last snapshot and cuts the log.
func (s *Store) Snapshot(ctx context.Context) error { panic("todo") }

// Backup writes all there is to w, while the node runs. Restore makes a log of it;
// Verify reads it as a start would.
func (s *Store) Backup(ctx context.Context, w io.Writer) error { panic("todo") }

func Restore(ctx context.Context, r io.Reader, l oplog.Log) (Report, error)     { panic("todo") }
func Verify(ctx context.Context, r io.Reader, e *engine.Engine) (Report, error) { panic("todo") }

// Status is how the store does, for metrics.
type Status struct {
	Pending              uint64        // bytes that wait to be written
	Lag                  time.Duration // age of the oldest change that isn't on the disk
	LogBytes             uint64
	Snapshotting         bool
	LastSnapshot         time.Time
	LastSnapshotTook     time.Duration
	LastSnapshotErr      error
	Commits, CommitBytes uint64
	Err                  error // why nothing can be kept now
}

func (s *Store) Status() Status { panic("todo") }

// Close writes what is pending, with Durability None makes a snapshot, and ends.
func (s *Store) Close(ctx context.Context) error { panic("todo") }
