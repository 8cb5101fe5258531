package oplog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/wal"
)

// term is the term of all batches of a node that is not replicated.
const term = 1

// Options configure a log.
type Options struct {
	ReadOnly bool         // nothing in the directory is changed
	MaxBytes uint64       // limit of the size of all files; 0: none
	Log      *slog.Logger // nil: nowhere
}

// wal returns the options of the log below.
func (o Options) wal() wal.Options {
	return wal.Options{ReadOnly: o.ReadOnly, MaxBytes: int64(o.MaxBytes), Log: o.Log}
}

// Open opens the log in a directory, which is made if it does not exist. The error wraps ErrLocked or
// ErrVersion.
func Open(_ context.Context, dir string, o Options) (Log, error) {
	l, err := wal.Open(dir, o.wal())
	if err != nil {
		return nil, err
	}
	return On(l), nil
}

// On returns the log of batches in l, which is closed with it.
func On(l *wal.Log) Log { return &batches{wal: l, turn: make(chan struct{}, 1)} }

// batches is a log of batches.
type batches struct {
	wal  *wal.Log
	turn chan struct{} // held by the goroutine that appends

	pending   []byte // the batch that was written last, if it was not acknowledged; guarded by turn
	abandoned bool   // a caller of Append did not wait for its end; guarded by turn
}

// errAbandoned: whether the last batch is durable was never found out.
var errAbandoned = errors.New("oplog: an append was cancelled; open the log again")

func (l *batches) Append(ctx context.Context, batch []byte) (number uint64, err error) {
	if len(batch) == 0 || len(batch) > MaxBatch {
		return 0, fmt.Errorf("oplog: a batch of %d bytes, want 1 to %d", len(batch), MaxBatch)
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		<-l.turn
		return 0, err
	}
	// A disk that hangs does not return, but the caller does when ctx is done.
	var left atomic.Bool
	done := make(chan struct{})
	go func() {
		number, err = l.append(batch)
		close(done)
		if left.Load() {
			l.abandoned = true
		}
		<-l.turn
	}()
	select {
	case <-done:
		return number, err
	case <-ctx.Done():
		left.Store(true)
		return 0, ctx.Err()
	}
}

// append is Append. Called with turn held.
func (l *batches) append(batch []byte) (uint64, error) {
	if l.abandoned {
		return 0, errAbandoned
	}
	if l.pending != nil {
		number, err := l.wal.Sync()
		if err != nil {
			return 0, err
		}
		same := bytes.Equal(l.pending, batch)
		l.pending = nil
		if same {
			return number, nil
		}
	}
	number := l.wal.Next()
	if err := l.wal.Write([]wal.Entry{{Index: number, Term: term, Type: wal.Batch, Data: batch}}); err != nil {
		return 0, err
	}
	if _, err := l.wal.Sync(); err != nil {
		l.pending = bytes.Clone(batch)
		return 0, err
	}
	l.wal.Commit(number)
	return number, nil
}

func (l *batches) Read(ctx context.Context, from uint64, each func(uint64, []byte) error) error {
	return l.wal.Read(from, entries(ctx, each))
}

func (l *batches) ReadOver(ctx context.Context, from uint64, each func(uint64, []byte) error, lost func(first, last uint64, why error) error) error {
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

func (l *batches) Bounds() (first, last uint64) { return l.wal.Bounds() }
func (l *batches) Torn() string                 { return l.wal.Torn() }
func (l *batches) Health() error                { return l.wal.Health() }
func (l *batches) Bytes() uint64                { return l.wal.Bytes() }

// patience is how long Close waits for an append on a disk that hangs.
const patience = 5 * time.Second

func (l *batches) Close() error {
	select {
	case l.turn <- struct{}{}:
	case <-time.After(patience):
		return errors.New("oplog: the disk does not answer; the log was not closed in order")
	}
	defer func() { <-l.turn }()
	return l.wal.Close()
}

func (l *batches) Trim() error { return l.wal.Trim() }

func (l *batches) Purge(_ context.Context, before uint64) error { return l.wal.CutFront(before) }
