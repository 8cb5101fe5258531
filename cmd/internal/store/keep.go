package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// Between two tries of a log that fails.
const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = time.Second
)

// keep writes the queue's batches to the log, one after the other, until the queue is
// closed and empty, or ctx is done.
func (q *queue) keep(ctx context.Context, l oplog.Log, log *slog.Logger) {
	for {
		b := q.take()
		if b == nil {
			break
		}
		number, err := q.write(ctx, l, log, b)
		if err != nil {
			break
		}
		q.done(b, number)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over, q.closed = true, true
	q.fail(ErrClosed)
	q.crowd()
}

// take returns the next batch when its time has come, nil at the end.
func (q *queue) take() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if len(q.full) > 0 {
			b := q.full[0]
			q.full = append(q.full[:0], q.full[1:]...)
			q.flight = b
			q.crowd()
			return b
		}
		due := lazy
		if q.active != nil {
			due = q.due()
		} else if q.closed {
			return nil
		}
		if q.active != nil && (due <= 0 || q.closed) {
			q.flight, q.active = q.active, nil
			return q.flight
		}
		q.doze(due, q.active != nil)
	}
}

// due returns how long active waits still. Called with mu held.
func (q *queue) due() time.Duration {
	switch {
	case q.wanted >= q.active.first && q.delay <= 0 || len(q.active.bytes) >= enough:
		return 0
	case q.wanted >= q.active.first:
		return min(time.Until(q.asked.Add(q.delay)), time.Until(q.active.since.Add(lazy)))
	}
	return time.Until(q.active.since.Add(lazy))
}

// doze waits until there is something to do, or for that long. Called with mu held, which
// it lets go of meanwhile.
func (q *queue) doze(d time.Duration, timed bool) {
	q.dozing = true
	q.mu.Unlock()
	if !timed {
		<-q.hasTaken
		q.mu.Lock()
		return
	}
	t := time.NewTimer(d)
	select {
	case <-q.hasTaken:
		t.Stop()
		q.mu.Lock()
	case <-t.C:
		q.mu.Lock()
		if !q.dozing {
			<-q.hasTaken // who woke keep at the same moment
		}
		q.dozing = false
	}
}

// write appends b to the log, again and again until that succeeds. It fails only when ctx
// is done.
func (q *queue) write(ctx context.Context, l oplog.Log, log *slog.Logger, b *batch) (uint64, error) {
	pause := firstRetry
	for tries := 1; ; tries++ {
		number, err := l.Append(ctx, b.bytes)
		if err == nil {
			if tries > 1 {
				log.Info("log writable again", "tries", tries)
			}
			return number, nil
		}
		q.failed(err)
		if tries == 1 {
			log.Error("log write failed; refusing writes", "error", err)
			q.mu.Lock()
			q.fail(fmt.Errorf("store: log write failed: %w", err))
			q.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return 0, errors.Join(err, ctx.Err())
		case <-time.After(pause):
			pause = min(2*pause, lastRetry)
		}
	}
}

// fail has everybody told why nothing can be kept. Called with mu held.
func (q *queue) fail(err error) {
	q.trouble.Store(&err)
	q.release()
	q.settle()
}

// done notes that a batch is in the log.
func (q *queue) done(b *batch, number uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range b.begun {
		r.begin = number
	}
	for _, r := range b.ended {
		delete(q.rows, r)
	}
	q.batch = number
	q.kept.Store(uint64(b.last))
	q.commits++
	q.bytes += uint64(len(b.bytes))
	q.flight = nil
	q.trouble.Store(nil)
	close(b.settled)
	if len(q.spare) < maxSpare {
		*b = batch{bytes: b.bytes[:0], begun: b.begun[:0], ended: b.ended[:0]}
		q.spare = append(q.spare, b)
	}
}

// close has nothing taken any more. What waits is still written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.closing.Store(true)
	q.crowd()
	q.wake()
}
