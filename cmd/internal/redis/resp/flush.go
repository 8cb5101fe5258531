package resp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// maxUnflushed is the number of bytes of replies above which they are sent before all commands of
// a read have run, and the size of a write.
const maxUnflushed = 256 << 10

// flush waits until the changes that the replies depend on are durable, and sends the replies.
func (c *Conn) flush() {
	if c.replies == 0 || c.broken {
		return
	}
	if cap(c.out) > ownMemory && !c.updateMemory() { // the client may take long to read
		c.logMemory()
		c.broken = true
		return
	}
	if c.position > 0 && c.s.o.Wait != nil {
		waits := !c.kept()
		if waits && c.shift != nil && c.shift.polls() {
			c.mayWait()
		}
		if err := c.s.o.Wait(c.s.alive, c.position); err != nil {
			c.out = c.out[:0]
			for range c.replies {
				c.Error(err.Error())
			}
		}
		if waits {
			c.clock = time.Now()
		}
	}
	c.position, c.replies = 0, 0
	for part := range slices.Chunk(c.out, maxUnflushed) {
		c.state(writing, c.clock)
		c.s.traffic[c.lane].written.Add(uint64(len(part)))
		if _, err := c.nc.Write(part); err != nil {
			c.broken = true
			return
		}
		if len(part) == maxUnflushed {
			c.clock = time.Now() // the next part has the same time as this one
		}
	}
	c.state(running, c.clock)
	if cap(c.out) > maxKeptBuffer {
		c.out = nil
	}
	c.out = c.out[:0]
}

// kept reports whether the replies need not wait for the disk.
func (c *Conn) kept() bool {
	return c.position == 0 || c.s.o.Wait == nil || c.s.o.Kept != nil && c.s.o.Kept(c.position)
}

// deferred reports whether the replies wait for the disk, and a loop for the connection.
func (c *Conn) deferred() bool {
	return c.shift != nil && c.replies > 0 && !c.kept() && c.shift.polls()
}

// throttle delays the next read according to the client's rate limit.
func (c *Conn) throttle() {
	if c.limiter == nil {
		c.ran = 0
		return
	}
	for c.ran > 0 {
		n := min(c.ran, c.limiter.Burst())
		if now := time.Now(); c.limiter.AllowN(now, n) {
			c.ran -= n
			continue
		}
		c.mayWait()
		if c.limiter.WaitN(c.s.draining, n) != nil {
			break
		}
		c.ran -= n
	}
	c.ran = 0
}

// fail ends the connection after an error. It replies the error unless the query was too large.
func (c *Conn) fail(err error) {
	if errors.Is(err, errTooLarge) {
		c.logger().Warn("client disconnected", event.ClientDisconnected, "reason", err)
		c.closing = true
		return
	}
	c.s.o.Log.Debug("protocol error", "client", c.Addr().String(), "error", err)
	c.reply(func() { c.Error(fmt.Sprintf("ERR %v", err)) })
	c.closing, c.failed = true, true
}
