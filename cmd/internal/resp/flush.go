package resp

import (
	"errors"
	"fmt"
	"slices"
	"time"
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
		if err := c.s.o.Wait(c.s.alive, c.position); err != nil {
			c.out = c.out[:0]
			for range c.replies {
				c.Error(err.Error())
			}
		}
	}
	c.position, c.replies = 0, 0
	for part := range slices.Chunk(c.out, maxUnflushed) {
		c.state(writing, time.Now())
		c.s.stats.written.Add(uint64(len(part)))
		if _, err := c.nc.Write(part); err != nil {
			c.broken = true
			return
		}
	}
	c.doing.Store(running)
	if cap(c.out) > maxKeptBuffer {
		c.out = nil
	}
	c.out = c.out[:0]
}

// throttle delays the next read according to the client's rate limit.
func (c *Conn) throttle() {
	if c.limiter == nil {
		return
	}
	for c.ran > 0 {
		n := min(c.ran, c.limiter.Burst())
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
		c.logger().Warn("client disconnected", "reason", err)
		c.closing = true
		return
	}
	c.s.o.Log.Debug("protocol error", "client", c.Addr().String(), "error", err)
	c.reply(func() { c.Error(fmt.Sprintf("ERR %v", err)) })
	c.closing, c.failed = true, true
}
