package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/changelog"
)

// The time between attempts to write to a log that fails.
const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = time.Second
)

// Run writes the batches to the log, one after the other, until the journal is closed and empty, or ctx
// is done. It is called once.
func (j *Journal) Run(ctx context.Context) {
	for {
		b := j.next()
		if b == nil {
			break
		}
		number, err := j.write(ctx, b)
		if err != nil {
			break
		}
		j.written(b, number)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.setErr(ErrClosed)
	j.updateRoom()
}

// next returns the next batch when it is due, nil at the end.
func (j *Journal) next() *batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		if len(j.full) > 0 {
			b := j.full[0]
			j.full = append(j.full[:0], j.full[1:]...)
			j.flight = b
			j.updateRoom()
			return b
		}
		delay := maxDelay
		if j.active != nil {
			delay = j.delay()
		} else if j.closed {
			return nil
		}
		if j.active != nil && (delay <= 0 || j.closed) {
			j.flight, j.active = j.active, nil
			return j.flight
		}
		j.sleep(delay, j.active != nil)
	}
}

// delay returns the time until active is due. The caller holds mu.
func (j *Journal) delay() time.Duration {
	wanted := j.wanted >= j.active.First
	switch {
	case wanted && j.o.CommitDelay <= 0 || len(j.active.Bytes) >= flushBytes:
		return 0
	case wanted:
		return min(time.Until(j.wantedAt.Add(j.o.CommitDelay)), time.Until(j.active.since.Add(maxDelay)))
	}
	return time.Until(j.active.since.Add(maxDelay))
}

// sleep waits until the writer is woken or, if timed, for d. The caller holds mu, which is unlocked
// meanwhile.
func (j *Journal) sleep(d time.Duration, timed bool) {
	j.sleeping = true
	j.mu.Unlock()
	if !timed {
		<-j.woken
		j.mu.Lock()
		return
	}
	t := time.NewTimer(d)
	select {
	case <-j.woken:
		t.Stop()
		j.mu.Lock()
	case <-t.C:
		j.mu.Lock()
		if !j.sleeping {
			<-j.woken // it was woken at the same moment
		}
		j.sleeping = false
	}
}

// write appends b to the log, and retries until that succeeds or ctx is done.
func (j *Journal) write(ctx context.Context, b *batch) (uint64, error) {
	pause := firstRetry
	for tries := 1; ; tries++ {
		number, err := j.log.Append(ctx, b.Bytes)
		if err == nil {
			if tries > 1 {
				j.o.Log.Info("log writable again", "tries", tries)
			}
			return number, nil
		}
		j.o.Failed(err)
		if tries == 1 {
			j.o.Log.Error("log write failed; refusing writes", "error", err)
			j.mu.Lock()
			j.setErr(fmt.Errorf("journal: log write failed: %w", err))
			j.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return 0, errors.Join(err, ctx.Err())
		case <-time.After(pause):
			pause = min(2*pause, lastRetry)
		}
	}
}

// setErr sets the error of Ready and of all who wait. The caller holds mu.
func (j *Journal) setErr(err error) {
	j.trouble.Store(&err)
	j.wakeRoom()
	j.notify()
}

// written notes that a batch is in the log.
func (j *Journal) written(b *batch, number uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range b.begun {
		l.number = number
	}
	for _, l := range b.ended {
		delete(j.long, l)
	}
	j.number = number
	j.kept.Store(uint64(b.Last))
	j.commits++
	j.bytes += uint64(len(b.Bytes))
	j.flight = nil
	j.trouble.Store(nil)
	close(b.settled)
	if len(j.free) < freeBatches {
		*b = batch{Batch: changelog.Batch{Bytes: b.Bytes[:0]}, begun: b.begun[:0], ended: b.ended[:0]}
		j.free = append(j.free, b)
	}
}
