package resp

import (
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// maintain disconnects clients that are idle or don't read for too long, and makes idle ones
// release memory. Reads and writes therefore need no deadlines.
func (s *Server) maintain() {
	tick := time.NewTicker(s.maintenanceInterval())
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.Clients(func(c *Conn) { c.maintain(now) })
			tick.Reset(s.maintenanceInterval())
		case <-s.alive.Done():
			return
		}
	}
}

// maintenanceInterval returns an interval in which limits are kept within a fourth of their
// value.
func (s *Server) maintenanceInterval() time.Duration {
	every, l := 4*time.Second, s.limits.Load()
	if l.Idle > 0 {
		every = min(every, l.Idle)
	}
	return max(min(every, l.WriteWait)/4, time.Millisecond)
}

// quietTime is the idle time after which a client's buffers are released.
const quietTime = 2 * time.Second

func (c *Conn) maintain(now time.Time) {
	took := time.Duration(now.UnixNano() - c.since.Load())
	l := c.s.limits.Load()
	switch c.doing.Load() {
	case writing:
		if took > l.WriteWait {
			c.logger().Warn("client disconnected", event.ClientDisconnected, "reason", "replies are not read", "took", took)
			c.cut()
		}
	case reading:
		if c.overdue(now) || l.Idle > 0 && took > l.Idle {
			c.cut()
		} else if took > quietTime && c.memory.Load() > minBuffer {
			c.wake()
		}
	}
}
