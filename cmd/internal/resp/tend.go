package resp

import "time"

// tend looks after connections that wait: it cuts clients that are silent or don't read for too long,
// and has silent ones let go of their memory. So reads and writes need no deadlines.
func (s *Server) tend() {
	tick := time.NewTicker(s.tendEvery())
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.Clients(func(c *Conn) { c.tend(now) })
			tick.Reset(s.tendEvery())
		case <-s.alive.Done():
			return
		}
	}
}

// tendEvery is short enough for the limits to be kept within a fourth of them.
func (s *Server) tendEvery() time.Duration {
	every, l := 4*time.Second, s.limits.Load()
	if l.Idle > 0 {
		every = min(every, l.Idle)
	}
	return max(min(every, l.WriteWait)/4, time.Millisecond)
}

// quiet is how long a client says nothing before its buffers are let go.
const quiet = 2 * time.Second

func (c *Conn) tend(now time.Time) {
	took := time.Duration(now.UnixNano() - c.since.Load())
	l := c.s.limits.Load()
	switch c.doing.Load() {
	case writing:
		if took > l.WriteWait {
			c.s.o.Log.Warn("a client was cut: it doesn't read its replies", "addr", c.nc.RemoteAddr(), "for", took)
			c.cut()
		}
	case reading:
		if l.Idle > 0 && took > l.Idle {
			c.cut()
		} else if took > quiet && c.held.Load() > leastBuffer {
			c.wake()
		}
	}
}
