package oplog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// term is the term of all batches of a node that is not replicated.
const term = 1

// Options configure a log.
type Options struct {
	ReadOnly bool // nothing in the directory is changed
	// AcceptUnreadable is that of wal.Options.
	AcceptUnreadable bool
	SegmentBytes     int64          // size of a file; 0: as in package wal
	Disk             *budget.Budget // limits the size of all files; nil: no limit
	Log              *slog.Logger   // nil: nowhere
}

// wal returns the options of the log below.
func (o Options) wal() wal.Options {
	return wal.Options{ReadOnly: o.ReadOnly, AcceptUnreadable: o.AcceptUnreadable, SegmentBytes: o.SegmentBytes, Disk: o.Disk, Log: o.Log}
}

// Open opens the log in a directory, which is made if it does not exist. The error wraps ErrLocked or
// ErrVersion.
func Open(_ context.Context, dir string, o Options) (Log, error) {
	l, err := wal.Open(dir, o.wal())
	if err != nil {
		return nil, err
	}
	return Alone(l), nil
}

// Alone returns the log of a node that is not replicated, in l, which is closed with it. A batch is
// committed when it is durable.
func Alone(l *wal.Log) Log {
	return &alone{wal: l, proposing: make(chan struct{}, 1), committing: make(chan struct{}, 1), removing: make(chan struct{}, 1)}
}

// alone is the log of a node that is not replicated.
type alone struct {
	wal        *wal.Log
	proposing  chan struct{} // held by Propose
	committing chan struct{} // held by Commit
	removing   chan struct{} // held by Purge and Trim
	abandoned  atomic.Bool   // a caller of Propose did not wait for its end
}

// errAbandoned: whether the last batch was written was never found out.
var errAbandoned = errors.New("an operation was cancelled; open the log again")

func (l *alone) Ready() error { return l.wal.Health() }

func (l *alone) Propose(ctx context.Context, batch, scope []byte) (number uint64, err error) {
	if len(batch) == 0 || len(batch) > MaxBatch {
		return 0, fmt.Errorf("a batch of %d bytes, want 1 to %d", len(batch), MaxBatch)
	}
	if l.abandoned.Load() {
		return 0, errAbandoned
	}
	done, err := interruptible(ctx, l.proposing, func() (uint64, error) {
		n := l.wal.Next()
		return n, l.wal.Write([]wal.Entry{{Index: n, Term: term, Type: wal.Batch, Data: batch, Scope: scope}})
	})
	if err != nil && ctx.Err() != nil {
		l.abandoned.Store(true)
	}
	return done, err
}

func (l *alone) Commit(ctx context.Context) (uint64, error) {
	return interruptible(ctx, l.committing, func() (uint64, error) {
		n, err := l.wal.Sync()
		if err == nil {
			l.wal.Commit(n)
		}
		return n, err
	})
}

// interruptible calls f while it holds turn, and returns its result, or the error of ctx when that is
// done: a disk that hangs does not return.
func interruptible(ctx context.Context, turn chan struct{}, f func() (uint64, error)) (uint64, error) {
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		<-turn
		return 0, err
	}
	type result struct {
		number uint64
		err    error
	}
	done := make(chan result, 1)
	go func() {
		n, err := f()
		<-turn
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.number, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (l *alone) Committed() uint64 {
	_, last := l.wal.Bounds()
	return last
}

func (l *alone) Lost() <-chan struct{} { return nil }

func (l *alone) Read(ctx context.Context, from uint64, each func(uint64, []byte) error) error {
	return l.wal.Read(from, entries(ctx, each))
}

func (l *alone) ReadOver(ctx context.Context, from uint64, each func(uint64, []byte) error, lost func(Hole) error) error {
	return l.wal.ReadOver(from, entries(ctx, each), lost)
}

// entries passes on the batches among entries.
func entries(ctx context.Context, each func(uint64, []byte) error) func(wal.Entry) error {
	return func(e wal.Entry) error {
		if err := ctx.Err(); err != nil || e.Type != wal.Batch {
			return err
		}
		return each(e.Index, e.Data)
	}
}

func (l *alone) Purge(ctx context.Context, before uint64) error {
	_, err := interruptible(ctx, l.removing, func() (uint64, error) { return 0, l.wal.CutFront(before) })
	return err
}

func (l *alone) Frugal(on bool) { l.wal.Frugal(on) }

func (l *alone) Trim(ctx context.Context) error {
	_, err := interruptible(ctx, l.removing, func() (uint64, error) { return 0, l.wal.Trim() })
	return err
}

func (l *alone) Bounds() (first, last uint64) { return l.wal.Bounds() }
func (l *alone) Torn() string                 { return l.wal.Torn() }
func (l *alone) Health() error                { return l.wal.Health() }
func (l *alone) Bytes() uint64                { return l.wal.Bytes() }
func (l *alone) Room() uint64                 { return l.wal.Room() }

// patience is how long Close waits for operations on a disk that hangs.
const patience = 5 * time.Second

func (l *alone) Close() error {
	hangs := time.After(patience)
	for _, turn := range []chan struct{}{l.proposing, l.committing, l.removing} {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-hangs:
			return errHangs
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- l.wal.Close() }()
	select {
	case err := <-closed:
		return err
	case <-hangs:
		return errHangs
	}
}

var errHangs = errors.New("the disk does not answer; the log was not closed in order")
