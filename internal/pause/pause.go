// Package pause has the pauses between attempts: one that ends with a context, and pauses that double.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends. It reports whether ctx has not ended. It returns at once if d is not positive.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Doubling has the pauses after failures in a row: First, and then twice the last one, at most Most. It is for one
// goroutine.
type Doubling struct {
	First, Most time.Duration

	last time.Duration
}

// Next returns the pause after a further failure.
func (d *Doubling) Next() time.Duration {
	d.last = min(max(d.First, 2*d.last), d.Most)
	return d.last
}

// Reset makes the next pause the first one, after a success.
func (d *Doubling) Reset() { d.last = 0 }
