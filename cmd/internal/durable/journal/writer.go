package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// The time between attempts to write to a log that fails.
const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = time.Second
)

// The operations of the log, as indices of Journal.troubles.
const (
	proposing = iota
	committing
)

// Run writes the batches to the log, in order, until the journal is closed and empty, or ctx is done. A
// second goroutine commits them meanwhile. It is called once.
func (j *Journal) Run(ctx context.Context) {
	written := make(chan struct{}, 1) // there is a batch that no Commit under way includes
	var commits sync.WaitGroup
	commits.Go(func() {
		for range written {
			if number, err := j.retry(ctx, committing, j.timedCommit); err == nil {
				j.committed(number)
			}
		}
	})
	defer context.AfterFunc(ctx, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.wake()
	})()
	for b := j.next(ctx); b != nil; b = j.next(ctx) {
		b.scope = b.AppendScope(b.scope[:0])
		number, err := j.retry(ctx, proposing, func(ctx context.Context) (uint64, error) { return j.log.Propose(ctx, b.Bytes, b.scope) })
		if err != nil {
			break
		}
		j.mu.Lock()
		b.number = number
		j.mu.Unlock()
		select {
		case written <- struct{}{}:
		default:
		}
	}
	close(written)
	commits.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.trouble.Store(new(errClosed))
	j.wakeRoom()
	j.notify()
	j.updateRoom()
}

// next returns the next batch when it is due, and nil at the end or when ctx is done. While others are in
// flight, only long batches are due: short ones collect changes, which then share a Commit.
func (j *Journal) next(ctx context.Context) *batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	for ctx.Err() == nil {
		idle := len(j.flight) == 0
		if len(j.full) > 0 && len(j.flight) < maxFlight {
			b := j.full[0]
			j.full = slices.Delete(j.full, 0, 1) // leaves no reference to b
			j.flight = append(j.flight, b)
			j.updateRoom()
			return b
		}
		delay := maxDelay
		if len(j.full) == 0 && j.active != nil {
			delay = j.delay()
		} else if j.closed && len(j.full) == 0 {
			return nil
		}
		if len(j.full) == 0 && j.active != nil && (delay <= 0 || j.closed) &&
			(idle || len(j.flight) < maxFlight && len(j.active.Bytes) >= flushBytes) {
			b := j.active
			j.flight, j.active = append(j.flight, b), nil
			return b
		}
		j.sleep(delay, idle && j.active != nil)
	}
	return nil
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

// retry calls an operation of the log until it succeeds or ctx is done.
func (j *Journal) retry(ctx context.Context, which int, operation func(context.Context) (uint64, error)) (uint64, error) {
	pause, logged := firstRetry, false
	for tries := 1; ; tries++ {
		number, err := operation(ctx)
		if err == nil {
			if logged {
				j.o.Log.Info("log writable again", event.LogRecovered, "tries", tries)
			}
			if tries > 1 {
				j.setTrouble(which, nil)
			}
			return number, nil
		}
		if !j.o.Failed(err) && !logged {
			j.o.Log.Error("log write failed; refusing writes", event.LogFailed, "error", err)
			logged = true
		}
		if tries == 1 {
			j.setTrouble(which, fmt.Errorf("log write failed: %w", err))
		}
		select {
		case <-ctx.Done():
			return 0, errors.Join(err, ctx.Err())
		case <-j.again():
			pause = firstRetry
		case <-time.After(pause):
			pause = min(2*pause, lastRetry)
		}
	}
}

// again returns a channel that Retry closes.
func (j *Journal) again() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.retrying == nil {
		j.retrying = make(chan struct{})
	}
	return j.retrying
}

// Retry makes the next attempt to write to a log that fails begin at once. It is for a caller that removed the
// cause.
func (j *Journal) Retry() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.retrying != nil {
		close(j.retrying)
		j.retrying = nil
	}
}

// timedCommit is log.Commit.
func (j *Journal) timedCommit(ctx context.Context) (uint64, error) {
	began := time.Now()
	number, err := j.log.Commit(ctx)
	if err == nil && j.o.Synced != nil {
		j.o.Synced(time.Since(began))
	}
	return number, err
}

// setTrouble sets or removes an error of Ready and of all who wait.
func (j *Journal) setTrouble(which int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.troubles[which] = err
	j.trouble.Store(nil)
	for _, err := range j.troubles {
		if err != nil {
			j.trouble.Store(&err)
			j.wakeRoom()
			j.notify()
			return
		}
	}
}

// committed notes that the batches up to a number are in the log.
func (j *Journal) committed(number uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, b := range j.flight {
		if b.number == 0 || b.number > number {
			break
		}
		n++
		j.settle(b)
	}
	j.flight = slices.Delete(j.flight, 0, n)
	j.wake()
}

// settle notes that a batch is in the log. The caller holds mu.
func (j *Journal) settle(b *batch) {
	for _, l := range b.begun {
		l.number = b.number
	}
	for _, l := range b.ended {
		delete(j.long, l)
	}
	j.number = b.number
	j.kept.Store(uint64(b.Last))
	j.commits++
	j.bytes += uint64(len(b.Bytes))
	close(b.settled)
	if j.o.Committed != nil {
		j.o.Committed(time.Since(b.since))
	}
	*b = batch{Batch: b.Batch, begun: b.begun[:0], ended: b.ended[:0], scope: b.scope[:0]} // Start resets the batch
	batches.Put(b)
}
