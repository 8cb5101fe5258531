package snapshot

import (
	"context"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// throttle leaves the processor and the disk to changes: while there are some, a snapshot rests nine
// tenths of the time, but less if the log is longer than Options.LogBytes, and not at all if it is twice
// as long.
type throttle struct {
	taker *Taker
	since time.Time       // end of the last rest
	last  engine.Position // at the end of the last rest
}

const (
	restRatio = 9 // time of rest for each time worked
	maxRest   = 500 * time.Millisecond
)

// rest rests if the snapshot has worked for a while and there were changes meanwhile.
func (t *throttle) rest(ctx context.Context) error {
	now := time.Now()
	last := t.taker.journal.Last()
	busy := last != t.last && !t.since.IsZero()
	t.last = last
	worked := now.Sub(t.since)
	if t.since.IsZero() {
		t.since = now
	}
	if worked < time.Millisecond {
		return nil
	}
	t.since = now
	share := restShare(t.taker.LogLength(), t.taker.o.LogBytes)
	if !busy || share == 0 || t.taker.hurry.Load() {
		return nil
	}
	timer := time.NewTimer(time.Duration(share * float64(min(worked*restRatio, maxRest))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	t.since = time.Now()
	return nil
}

// restShare returns the share of its rests that a snapshot takes if the log has length bytes and was
// planned to have planned bytes, 0 if it may have any length.
func restShare(length, planned uint64) float64 {
	if planned == 0 {
		return 1
	}
	return max(0, min(1, 2-float64(length)/float64(planned)))
}
