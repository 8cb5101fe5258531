package resp

import (
	"errors"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
)

// ownMemory is the memory of a connection that is not taken from Options.Budget, so that clients with
// ordinary commands are never refused. The maximum number of clients bounds its sum.
const ownMemory = maxKeptBuffer

// updateMemory takes the memory that the connection holds from the budget. It reports false if the
// connection must end, because all clients hold too much together and no other holds more.
func (c *Conn) updateMemory() bool {
	held := int64(c.tx.bytes)
	if c.scratch != nil {
		held += int64(c.scratch.memory())
	}
	if held == c.memory.Load() {
		return true
	}
	c.memory.Store(held)
	return c.takeMemory(max(held-ownMemory, 0))
}

func (c *Conn) takeMemory(want int64) bool {
	b := c.s.o.Budget
	if want <= c.taken {
		b.Give(c.taken - want)
		c.taken = want
		return true
	}
	for {
		err := b.Take(want - c.taken)
		if err == nil {
			c.taken = want
			return true
		}
		victim := c.s.largest()
		if victim == nil || victim == c || !errors.Is(err, budget.ErrFull) {
			return false
		}
		if victim.cut() {
			victim.logMemory()
		}
		c.mayWait()
		select { // until the victim has released its memory
		case <-victim.gone:
		case <-time.After(time.Second): // it runs a long command
			return false
		case <-c.s.alive.Done():
			return false
		}
	}
}

// logMemory logs that the client is disconnected because of its memory.
func (c *Conn) logMemory() {
	c.logger().Warn("client disconnected", event.ClientDisconnected, "reason", budget.ErrFull, "bytes", c.memory.Load())
}

// releaseMemory gives everything back when the connection has ended.
func (c *Conn) releaseMemory() {
	c.s.o.Budget.Give(c.taken)
	c.taken = 0
	close(c.gone)
}

// largest returns the connection that holds the most memory above its own, or nil.
func (s *Server) largest() (found *Conn) {
	most := int64(ownMemory)
	s.Clients(func(c *Conn) {
		if n := c.memory.Load(); n > most {
			found, most = c, n
		}
	})
	return found
}

// loginTime is the time that a client without a user has to log in.
const loginTime = time.Minute

// overdue reports whether the client should have logged in. It is safe for concurrent use.
func (c *Conn) overdue(now time.Time) bool {
	since := c.withoutUser.Load()
	return since != 0 && now.UnixNano()-since > int64(loginTime)
}

// noteUser notes whether the client has logged in.
func (c *Conn) noteUser() {
	switch {
	case !c.unauthenticated():
		c.withoutUser.Store(0)
	case c.withoutUser.Load() == 0:
		c.withoutUser.Store(time.Now().UnixNano())
	}
}
