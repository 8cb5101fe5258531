package siblings

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
)

// contact is the publication of a peer. It notes when its sidecar replied last: until its head expires, nothing else
// shows that it can't be reached.
type contact struct {
	*web.Client
	last   atomic.Pointer[time.Time] // nil before the first reply
	failed atomic.Bool               // a later request failed
}

// Record reads a record.
func (c *contact) Record(ctx context.Context, name string) ([]byte, error) {
	b, err := c.Client.Record(ctx, name)
	c.note(ctx, err)
	return b, err
}

// WatchRecord reads a record when it differs from last.
func (c *contact) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	b, err := c.Client.WatchRecord(ctx, name, last)
	c.note(ctx, err)
	return b, err
}

// note notes how a request ended. One that the subscriber ended is no failure.
func (c *contact) note(ctx context.Context, err error) {
	switch {
	case err == nil:
		now := time.Now()
		c.last.Store(&now)
		c.failed.Store(false)
	case ctx.Err() == nil:
		c.failed.Store(true)
	}
}

// lost returns when the sidecar replied last, if a later request failed, or if it has not renewed its head in time. Otherwise,
// and before the first reply, it returns nil.
func (c *contact) lost(h share.Head, now time.Time) *time.Time {
	// A publisher renews its head after a third of its validity.
	if late := now.Sub(h.Time) > h.Valid*2/3; late || c.failed.Load() {
		return c.last.Load()
	}
	return nil
}
