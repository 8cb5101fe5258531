package node

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// limited are the settings about clients that Reload puts in force, for those that are there too.
var limited = []string{"max-clients", "idle-timeout", "max-bulk", "max-output", "rate", "http-rate"}

// limitClients puts the limits of settings in force.
func (n *Node) limitClients(c Config) {
	n.limits.Store(&c)
	n.rates.Set(c.HTTPRate)
	if n.resp != nil {
		n.resp.SetLimits(limitsOf(c))
	}
}

// limitsOf returns the limits of Redis clients.
func limitsOf(c Config) resp.Limits {
	return resp.Limits{
		Clients: c.MaxClients, Idle: c.IdleTimeout, Bulk: int(c.MaxBulk),
		Output: int(c.MaxOutput), WriteWait: time.Minute, Rate: c.Rate,
	}
}

// inForce returns the settings with those that were changed since the start.
func (n *Node) inForce() Config {
	c, l := n.config, n.limits.Load()
	c.MaxClients, c.IdleTimeout, c.MaxBulk, c.MaxOutput, c.Rate, c.HTTPRate = l.MaxClients, l.IdleTimeout, l.MaxBulk, l.MaxOutput, l.Rate, l.HTTPRate
	return c
}

// crowd is a listener that turns away connections beyond a number, so that those there are are
// served, and files can be opened.
type crowd struct {
	net.Listener
	most func() int
	here atomic.Int64
}

// Accept returns the next connection for which there is a place.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c.here.Add(1) <= int64(c.most()) {
			return &member{Conn: conn, leave: sync.OnceFunc(func() { c.here.Add(-1) })}, nil
		}
		c.here.Add(-1)
		_ = conn.Close()
	}
}

// member is a connection of a crowd.
type member struct {
	net.Conn
	leave func()
}

func (m *member) Close() error {
	m.leave()
	return m.Conn.Close()
}
