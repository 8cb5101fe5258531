package resp

import (
	"crypto/tls"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Conn is the connection of a client. Its methods may be called only by the running command, unless they
// are documented as safe for concurrent use.
type Conn struct {
	// User is the client's user, as returned by Options.Auth.
	User any

	*scratch // nil while the connection waits for input and a loop serves it

	s      *Server
	nc     net.Conn
	id     int64
	limits *Limits // in force for this connection
	shift  shift   // that serves it; nil: it has a goroutine of its own
	lane   int     // of its counters: see usage.go

	more    bool // there may be complete commands that the rate limit holds back
	closing bool // the connection ends after the replies
	failed  bool // because of a protocol error
	broken  bool // the connection ends without the replies
	ended   bool // nothing is read or written any more
	version int  // of RESP
	replica bool // since READONLY: the client accepts answers of a node that does not lead its shard
	mute    int  // number of replies not to send; muted: all
	tx      transaction
	limiter *rate.Limiter

	since  atomic.Int64 // beginning of the current activity
	doing  atomic.Int32
	memory atomic.Int64  // bytes of its buffers and of its transaction
	taken  int64         // bytes taken from Options.Budget
	gone   chan struct{} // closed when they were given back

	withoutUser atomic.Int64 // when the connection began to have no user, in Unix nanoseconds; 0: it has one

	connInfo
}

// Activities of a connection.
const (
	reading int32 = iota
	running
	writing
)

// connInfo is the information for CLIENT LIST.
type connInfo struct {
	born        time.Time
	lastCommand atomic.Pointer[Command]
	queued      atomic.Int64 // commands in the transaction; -1: no transaction
	watch       atomic.Int64
	proto       atomic.Int64
	isCut       atomic.Bool

	mu                      sync.Mutex
	name, user              string
	library, libraryVersion string // set by CLIENT SETINFO
}

func newConn(s *Server, nc net.Conn) *Conn {
	c := &Conn{s: s, nc: nc, id: s.lastID.Add(1), gone: make(chan struct{})}
	c.lane = int(c.id % int64(len(s.traffic)))
	c.applyLimits()
	c.born = time.Now()
	c.since.Store(c.born.UnixNano())
	c.setVersion(2)
	c.queued.Store(-1)
	return c
}

// applyLimits applies the current limits of the server.
func (c *Conn) applyLimits() {
	l := c.s.limits.Load()
	if l == c.limits {
		return
	}
	if c.scratch != nil {
		c.in.limit(l)
	}
	switch {
	case l.Rate <= 0:
		c.limiter = nil
	case c.limits == nil || l.Rate != c.limits.Rate:
		c.limiter = rate.NewLimiter(rate.Limit(l.Rate), int(min(max(l.Rate, 1), math.MaxInt32)))
	}
	c.limits = l
}

// Addr and Local return the remote and the local address. They are safe for concurrent use.
func (c *Conn) Addr() net.Addr  { return c.nc.RemoteAddr() }
func (c *Conn) local() net.Addr { return c.nc.LocalAddr() }

// TLS returns the state of a TLS connection after its handshake, or nil without TLS.
func (c *Conn) TLS() *tls.ConnectionState {
	if t, ok := c.nc.(*tls.Conn); ok {
		state := t.ConnectionState()
		return &state
	}
	return nil
}

// Version returns the RESP version: 2 or 3.
func (c *Conn) Version() int { return c.version }

// Server returns the server.
func (c *Conn) Server() *Server { return c.s }

// Args returns the words of the running or last command: see Options.Observe.
func (c *Conn) Args() [][]byte { return c.args }

// Single returns a call as a list of calls. The list is memory of the connection that is valid while the
// command runs.
func (c *Conn) Single(args [][]byte) [][][]byte {
	c.single[0] = args
	return c.single[:]
}

// Failed returns the reply of the last command if it was an error, otherwise "". It is unknown,
// and "", for several calls that ran with one RunAll. See Options.Observe.
func (c *Conn) Failed() string { return c.failure }

// Close ends the connection after the replies are sent.
func (c *Conn) Close() { c.closing = true }

// MaxReply returns the length in bytes of the longest string that may be replied now. Clients
// accept maxString, and a client is disconnected if its replies exceed the output limit.
func (c *Conn) MaxReply() int {
	const head = 64 // framing of the reply
	return max(min(c.limits.Output-len(c.out), maxString)-head, 0)
}

// Commit declares that the replies since the last flush depend on position pos of the journal.
func (c *Conn) Commit(pos uint64) { c.position = max(c.position, pos) }

// InTransaction reports whether the command runs within EXEC. The keys of the transaction are locked
// then, so the command must not wait for the journal.
func (c *Conn) InTransaction() bool { return c.inExec }

// MostBytes returns the number of bytes that the command may work through, at most n. Within EXEC it is what
// is left of maxTransactionBytes.
func (c *Conn) MostBytes(n uint64) uint64 {
	if c.inExec {
		return min(n, c.left)
	}
	return n
}

// SpendBytes subtracts n bytes that a command has worked through from what is left within EXEC.
func (c *Conn) SpendBytes(n uint64) { c.left -= min(n, c.left) }

func (c *Conn) setVersion(v int) {
	c.version = v
	c.proto.Store(int64(v))
}

// cut closes the connection at once and reports whether this call is the first. It is safe
// for concurrent use.
func (c *Conn) cut() bool {
	first := !c.isCut.Swap(true)
	c.nc.Close()
	return first
}

// wake interrupts a read that waits for the client. It is safe for concurrent use.
func (c *Conn) wake() {
	if s, ok := c.nc.(interface{ wake() }); ok {
		s.wake()
		return
	}
	c.nc.SetReadDeadline(time.Unix(1, 0))
}

// mayWait must be called before the connection waits for anything or runs a command that may take long: a
// loop continues without it.
func (c *Conn) mayWait() {
	if c.shift != nil {
		c.shift.leave()
	}
}

func (c *Conn) state(doing int32, now time.Time) {
	c.doing.Store(doing)
	c.since.Store(now.UnixNano())
}
