package resp

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// serve serves a connection that has a goroutine of its own.
func (c *Conn) serve() {
	if err := handshake(c.s.alive, c.nc); err != nil {
		c.countHandshake(err)
		return
	}
	for c.welcome(); !c.ended; {
		c.round()
	}
}

// round reads once, runs the commands that are complete, and sends their replies. If a loop serves the
// connection and the replies depend on changes that are not durable yet, it does not send them: the next
// round does.
func (c *Conn) round() {
	c.prepare()
	if c.replies == 0 {
		if !c.more {
			if err := c.read(); err != nil {
				c.ended = err != errNoInput || c.s.draining.Err() != nil
				return
			}
			c.applyLimits()
		}
		if c.more = c.answer(); c.deferred() {
			return
		}
	}
	c.flush()
	c.throttle()
	c.state(reading, c.clock)
	if c.closing || c.broken {
		if c.failed && !c.broken {
			c.linger()
		}
		c.ended = true
	}
}

// errNoInput is returned by a connection that a loop serves if nothing has come.
var errNoInput = errors.New("no input")

// read reads what has come. A connection with a goroutine of its own waits for it.
func (c *Conn) read() error {
	for {
		room := c.in.room()
		if !c.updateMemory() {
			if c.in.complete() && c.scratch.memory() > ownMemory { // it was another connection's, or is that of earlier commands
				c.renew()
				continue
			}
			c.logMemory()
			return budget.ErrFull
		}
		if c.isCut.Load() {
			return net.ErrClosed
		}
		n, err := c.nc.Read(room)
		if n > 0 {
			c.s.traffic[c.lane].read.Add(uint64(n))
			c.in.filled(n)
			if n == len(room) {
				c.in.grow()
			}
			return nil
		}
		if c.s.draining.Err() != nil || err == errNoInput || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		c.nc.SetReadDeadline(time.Time{}) // maintain wants the memory
		if c.in.complete() {
			c.renew()
		}
	}
}

// linger reads for a moment after an error reply: closing a connection with unread input would
// discard the reply.
func (c *Conn) linger() {
	w, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || w.CloseWrite() != nil {
		return
	}
	c.mayWait()
	c.nc.SetReadDeadline(time.Now().Add(time.Second))
	io.Copy(io.Discard, io.LimitReader(c.nc, 1<<20))
}
