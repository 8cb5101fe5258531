package node

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// Limits are the limits of clients, which Reload applies, also to existing connections.
type Limits struct {
	MaxClients      int           // max-clients: RESP connections
	IdleTimeout     time.Duration // idle-timeout; 0: never
	MaxBulk         quantity.Size // max-bulk
	MaxOutput       quantity.Size // max-output
	Rate            float64       // resp-rate: commands per second and connection; 0: no limit
	HTTPRate        float64       // http-rate: requests per second and client; 0: no limit
	MaxDisk         quantity.Size // max-disk; 0: no limit
	MaxClientMemory Memory        // max-client-memory
}

// limitFlags are the settings of Limits, except max-disk, which a replica does not have.
func (l *Limits) limitFlags(fs *pflag.FlagSet) {
	fs.IntVar(&l.MaxClients, "max-clients", 10000, "`NUMBER` of Redis connections at most, and of HTTP connections")
	quantity.DurationVar(fs, &l.IdleTimeout, "idle-timeout", 0, "close idle Redis connections after this `DURATION`; 0: never")
	sizeVar(fs, &l.MaxBulk, "max-bulk", "512MiB", "`SIZE` of a command argument at most")
	sizeVar(fs, &l.MaxOutput, "max-output", "64MiB", "`SIZE` of the reply buffer per client at most")
	fs.Float64Var(&l.Rate, "resp-rate", 0, "`NUMBER` of commands per second per Redis connection; 0: no limit")
	fs.Float64Var(&l.HTTPRate, "http-rate", 0, "`NUMBER` of HTTP requests per second per client; 0: no limit")
	l.MaxClientMemory = Memory{Auto: true}
	fs.Var(&l.MaxClientMemory, "max-client-memory", "`SIZE` of memory at most, of the requests and replies of all clients "+
		"together; auto = an eighth of max-memory, at least 256MiB; none = no limit")
	spec.Group(fs, "Limits of clients", "max-clients", "idle-timeout", "max-bulk", "max-output", "resp-rate", "http-rate", "max-client-memory")
}

// traffic limits and counts what clients do.
type traffic struct {
	limits atomic.Pointer[Config] // with the current limits of clients
	rates  *httpapi.Rates
	budget *budget.Budget // memory of requests and replies

	httpAccepted, httpRejected atomic.Uint64 // connections
	handshakes                 atomic.Uint64 // of TLS over HTTP that failed
}

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
	c.Limits, c.Publications = l.Limits, l.Publications
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
