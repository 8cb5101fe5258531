package journal

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Wait returns when the change at pos is as durable as Options.Durability requires, or why it is not.
// After an error it may become durable later.
func (j *Journal) Wait(ctx context.Context, pos engine.Position) error {
	switch {
	case j.o.Durability == None || uint64(pos) <= j.kept.Load():
		return nil
	case j.o.Durability == EverySec && !j.late():
		return j.err()
	}
	return j.Sync(ctx, pos)
}

// Kept reports whether Wait would return at once.
func (j *Journal) Kept(pos engine.Position) bool {
	return j.o.Durability == None || uint64(pos) <= j.kept.Load() || j.o.Durability == EverySec && !j.late()
}

// late reports whether changes are not in the log within the second of EverySec.
func (j *Journal) late() bool {
	if j.closing.Load() {
		return true
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lag() > everySecLimit
}

// Sync returns when the change at pos is in the log, or why it is not.
func (j *Journal) Sync(ctx context.Context, pos engine.Position) error {
	j.mu.Lock()
	for j.kept.Load() < uint64(pos) {
		err := j.err()
		b := j.holder(pos)
		switch {
		case err == nil && b == nil && j.closed:
			err = errClosed
		case err == nil && b == nil:
			err = fmt.Errorf("no change at position %d", pos)
		}
		if err != nil {
			j.mu.Unlock()
			return err
		}
		if pos > j.wanted {
			if j.wanted < b.First {
				j.wantedAt = time.Now()
			}
			j.wanted = pos
			j.wake()
		}
		settled := b.settled
		j.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return ctx.Err()
		}
		j.mu.Lock()
	}
	j.mu.Unlock()
	return nil
}

// Drain returns when all changes are in the log. If the log fails, it waits until the log works again or
// ctx is done. It does not wait for a file system that is read-only.
func (j *Journal) Drain(ctx context.Context) error {
	for {
		err := j.Sync(ctx, j.Last())
		if err == nil || ctx.Err() != nil || errors.Is(err, syscall.EROFS) {
			return err
		}
		select {
		case <-time.After(firstRetry):
		case <-ctx.Done():
			return err
		}
	}
}

// holder returns the batch in which the change at pos ends. The caller holds mu.
func (j *Journal) holder(pos engine.Position) *batch {
	for b := range j.queued() {
		if pos <= b.Last {
			return b
		}
	}
	return nil
}

// notify makes all who wait look again. The caller holds mu.
func (j *Journal) notify() {
	for b := range j.queued() {
		close(b.settled)
		b.settled = make(chan struct{})
	}
}
