package siblings

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/share/web"
)

// contact is the publication of a peer. It notes since when its sidecar can't be reached: until its head expires, nothing else
// shows that.
type contact struct {
	*web.Client
	lost atomic.Pointer[time.Time] // nil if the last request for a head had a reply
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
	if err == nil {
		c.lost.Store(nil)
	} else if ctx.Err() == nil {
		c.lost.CompareAndSwap(nil, new(time.Now()))
	}
}
