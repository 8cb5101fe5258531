package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Leader puts entries, until another process claims the log. It is safe for concurrent use. It is the log of package
// journal.
type Leader struct {
	log    *Log
	ctx    context.Context // done when this process leads no longer
	stop   context.CancelCauseFunc
	free   instant // the first batch is not committed before
	leased atomic.Pointer[instant]
	runs   sync.WaitGroup
	claims map[uint64]bool // see Trim; nil until the first one

	mu      sync.Mutex
	changed chan struct{} // closed when anything below changes
	tip     Position      // after the last entry in flight
	done    Position      // after the last committed entry
	flight  []*put        // in order
	begun   instant       // when the last entry was begun
	trouble error         // of the last attempt to put the first entry in flight, until it succeeds
	ended   bool          // nothing is begun, and the lease is not renewed
	first   uint64        // index of the first of batches
	batches []Position    // after each batch of this leader, until Trim
}

// put is an entry in flight.
type put struct {
	after Position
	began instant
	there bool // the medium has it
}

// newLeader returns the leader whose claim was put, at a time after began.
func newLeader(l *Log, claim Position, began, free instant) *Leader {
	d := &Leader{log: l, free: free, tip: claim, done: claim, begun: began, first: claim.Index + 1, changed: make(chan struct{})}
	d.ctx, d.stop = context.WithCancelCause(context.Background())
	d.leased.Store(&began)
	d.runs.Go(d.beat)
	return d
}

// Propose puts a batch without waiting until it is committed, and returns its index. It waits while 16 entries are in
// flight. The scope is left out if the entry would be too large with it. The error wraps ErrDeposed, or it is that of
// ctx; then the batch was not put.
func (d *Leader) Propose(ctx context.Context, batch, scope []byte) (index uint64, err error) {
	after, err := d.begin(ctx, Batch, batch, scope)
	return after.Index, err
}

// Commit waits until all entries that were begun before are committed, and returns the index of the last batch. An
// entry is committed when the medium has it and all entries before it. The error wraps ErrDeposed, or it is the error
// of the medium because of which an entry is put again; then Commit may be called again.
func (d *Leader) Commit(ctx context.Context) (index uint64, err error) {
	d.mu.Lock()
	target := d.tip
	d.mu.Unlock()
	if err := d.reach(ctx, target); err != nil {
		return 0, err
	}
	if wait := -d.log.o.clock().least(d.free); wait > 0 {
		if !pause.For(ctx, wait) {
			return 0, context.Cause(ctx)
		}
		return d.Commit(ctx) // another process may have claimed meanwhile
	}
	return target.Index, nil
}

// reach waits until the entries up to a position are committed.
func (d *Leader) reach(ctx context.Context, target Position) error {
	return d.await(ctx, func() (bool, error) {
		if d.done.Number >= target.Number {
			return true, nil
		}
		return false, d.trouble
	})
}

// await waits until condition returns true or an error. It is called with mu held.
func (d *Leader) await(ctx context.Context, condition func() (bool, error)) error {
	for {
		d.mu.Lock()
		ok, err := condition()
		changed := d.changed
		d.mu.Unlock()
		if lost := context.Cause(d.ctx); lost != nil {
			return lost
		}
		if ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-d.ctx.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// notify wakes those who wait. The caller holds mu.
func (d *Leader) notify() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// begin puts an entry in flight, and returns the position after it.
func (d *Leader) begin(ctx context.Context, kind Kind, data, scope []byte) (Position, error) {
	if headerBytes+len(data)+len(scope)+sumBytes > MaxFrame {
		scope = nil
	}
	if n := headerBytes + len(data) + sumBytes; n > MaxFrame {
		return Position{}, fmt.Errorf("an entry of %d bytes, want at most %d", n, MaxFrame)
	}
	for {
		if err := d.await(ctx, func() (bool, error) { return len(d.flight) < window, nil }); err != nil {
			return Position{}, err
		}
		d.mu.Lock()
		if d.ended {
			d.mu.Unlock()
			return Position{}, sentinel.Wrap(ErrDeposed, errClosed)
		}
		if len(d.flight) < window {
			break
		}
		d.mu.Unlock()
	}
	defer d.mu.Unlock()
	at := d.tip
	f := frame{
		kind: kind, group: at.Group, writer: d.log.writer, number: at.next(), epoch: at.Epoch, index: at.Index, claim: at.Claim,
		chain: at.Hash, scope: scope, data: data,
	}
	if kind == Batch {
		f.index++
	}
	encoded := f.append(make([]byte, 0, headerBytes+len(scope)+len(data)+sumBytes))
	p := &put{after: f.position(encoded), began: d.log.o.clock()}
	d.tip, d.begun = p.after, p.began
	d.flight = append(d.flight, p)
	if kind == Batch {
		d.batches = append(d.batches, p.after)
	}
	if kind == Leave {
		d.ended = true
		d.leased.Store(nil) // before another process can read the entry
	}
	d.runs.Go(func() { d.finish(p, d.log.put(d.ctx, &f, encoded, func(err error) { d.failed(p, err) })) })
	return p.after, nil
}

// failed notes that an attempt to put an entry had an unknown result.
func (d *Leader) failed(p *put, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.flight) > 0 && d.flight[0] == p {
		d.trouble = err
		d.notify()
	}
}

// finish notes that the medium has an entry, or why it never will.
func (d *Leader) finish(p *put, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.lose(err)
		return
	}
	p.there = true
	for len(d.flight) > 0 && d.flight[0].there {
		d.done = d.flight[0].after
		if !d.ended {
			d.leased.Store(&d.flight[0].began)
		}
		d.flight[0] = nil
		d.flight = d.flight[1:]
		d.trouble = nil
	}
	d.notify()
}

// lose ends the leader. The caller holds mu.
func (d *Leader) lose(err error) {
	if !errors.Is(err, ErrDeposed) {
		err = sentinel.Wrap(ErrDeposed, err)
	}
	d.ended = true
	d.leased.Store(nil)
	d.stop(err)
}

// MayAnswerAbsent reports whether no other process has acknowledged a batch that this one does not have. A leader may
// answer that a key is absent if MayAnswerAbsent returns true after the filter was queried.
func (d *Leader) MayAnswerAbsent() bool {
	from := d.leased.Load()
	return from != nil && d.log.o.clock().most(*from) < d.log.o.Silence/2
}

// Age returns the time since the last committed entry was begun. leads is false if this process leads no longer.
func (d *Leader) Age() (age time.Duration, leads bool) {
	from := d.leased.Load()
	if from == nil {
		return 0, false
	}
	return d.log.o.clock().most(*from), true
}

// Lost returns a channel that is closed when this process leads no longer.
func (d *Leader) Lost() <-chan struct{} { return d.ctx.Done() }

// Err returns why this process leads no longer: an error that wraps ErrDeposed, or nil.
func (d *Leader) Err() error { return context.Cause(d.ctx) }

// Committed returns the position after the last committed entry.
func (d *Leader) Committed() Position {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// Position returns the position after a batch that this leader proposed and has not trimmed.
func (d *Leader) Position(index uint64) (Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if index < d.first || index-d.first >= uint64(len(d.batches)) {
		return Position{}, fmt.Errorf("batch %d is none of batches %d to %d", index, d.first, d.tip.Index)
	}
	return d.batches[index-d.first], nil
}

// beat puts an entry whenever none was begun for a quarter of the silence.
func (d *Leader) beat() {
	period := d.log.o.Silence / 4
	for pause.For(d.ctx, period/4) {
		d.mu.Lock()
		due := len(d.flight) == 0 && d.log.o.clock().most(d.begun) >= period
		d.mu.Unlock()
		if due {
			d.begin(d.ctx, Beat, nil, nil) // an error means that this process leads no longer
		}
	}
}

// Leave commits what was proposed, and ends the leader so that another process may claim at once. The caller proposes
// nothing any more. If it returns an error, others claim after the silence.
func (d *Leader) Leave(ctx context.Context) error {
	defer d.Close()
	if _, err := d.Commit(ctx); err != nil {
		return err
	}
	after, err := d.begin(ctx, Leave, nil, nil)
	if err != nil {
		return err
	}
	return d.reach(ctx, after)
}

// errClosed is why a leader ends that was closed.
var errClosed = errors.New("closed")

// Close ends the leader. It returns when nothing is being put any more; the medium may still receive entries in flight.
func (d *Leader) Close() {
	d.mu.Lock()
	d.lose(errClosed)
	d.mu.Unlock()
	d.runs.Wait()
}
