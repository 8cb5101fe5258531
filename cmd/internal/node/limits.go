package node

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// limited are the limits of clients that Reload applies, also to existing connections.
var limited = []string{"max-clients", "idle-timeout", "max-bulk", "max-output", "max-client-memory", "max-disk", "rate", "http-rate"}

// limitClients applies the limits of settings.
func (n *Node) limitClients(c Config) {
	n.limits.Store(&c)
	n.rates.Set(c.HTTPRate)
	n.budget.SetLimit(clientMemory(c.MaxClientMemory, n.limit()))
	if before := n.disk.Limit(); before != uint64(c.MaxDisk) {
		n.disk.SetLimit(uint64(c.MaxDisk))
		n.store.LimitChanged()
		n.limitFiles()
	}
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

// currentConfig returns the settings including changes since the start.
func (n *Node) currentConfig() Config {
	c, l := n.config, n.limits.Load()
	c.MaxClients, c.IdleTimeout, c.MaxBulk, c.MaxOutput, c.MaxClientMemory, c.MaxDisk, c.Rate, c.HTTPRate, c.Publications = l.MaxClients, l.IdleTimeout, l.MaxBulk, l.MaxOutput, l.MaxClientMemory, l.MaxDisk, l.Rate, l.HTTPRate, l.Publications
	return c
}

// connLimiter is a listener that closes connections above a maximum, so that the others are
// served and files can be opened.
type connLimiter struct {
	net.Listener
	most func() int
	here atomic.Int64

	accepted, rejected *atomic.Uint64
}

// Accept returns the next connection within the maximum.
func (c *connLimiter) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c.here.Add(1) <= int64(c.most()) {
			c.accepted.Add(1)
			return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { c.here.Add(-1) })}, nil
		}
		c.here.Add(-1)
		c.rejected.Add(1)
		_ = conn.Close()
	}
}

// limitedConn is a connection that a connLimiter counts.
type limitedConn struct {
	net.Conn
	leave func()
}

func (m *limitedConn) Close() error {
	m.leave()
	return m.Conn.Close()
}
