package resp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Conn is a client's connection. Its methods are for the command that runs, but for those that say
// more.
type Conn struct {
	// User is who the client is, as Auth returned it.
	User any
	// Slot is for commands to keep digests and answers in between calls.
	Slot any

	s      *Server
	nc     net.Conn
	id     int64
	in     parser
	limits *Limits // in force for it

	out     []byte
	replies int    // in out
	commit  uint64 // what they rest on
	last    bool   // the connection ends after them
	failed  bool   // because of an error in the protocol
	broken  bool   // and even before
	version int    // of RESP
	mute    int    // replies that are not sent; muted: all
	ahead   run    // commands that are yet to run
	args    [][]byte
	failure string // the last call's reply if it was an error
	alone   bool   // no other client's command runs
	tx      transaction
	pace    *rate.Limiter
	ran     int       // commands since the last read
	clock   time.Time // what ran until then has been observed

	since atomic.Int64 // when it began what it does
	doing atomic.Int32
	held  atomic.Int64 // bytes of its buffers

	about
}

// What a connection does.
const (
	reading int32 = iota
	running
	writing
)

// about is what CLIENT LIST shows.
type about struct {
	born   time.Time
	latest atomic.Pointer[Command]
	queued atomic.Int64 // commands in a transaction; -1: there is none
	watch  atomic.Int64
	proto  atomic.Int64

	mu               sync.Mutex
	name, user       string
	library, edition string // CLIENT SETINFO
}

func newConn(s *Server, nc net.Conn) *Conn {
	c := &Conn{s: s, nc: nc, id: s.lastID.Add(1)}
	c.obey()
	c.born = time.Now()
	c.since.Store(c.born.UnixNano())
	c.setVersion(2)
	c.queued.Store(-1)
	return c
}

// obey puts the server's limits in force.
func (c *Conn) obey() {
	l := c.s.limits.Load()
	if l == c.limits {
		return
	}
	c.in.maxArgs, c.in.maxBulk, c.in.maxQuery = l.Args, l.Bulk, l.Query
	switch {
	case l.Rate <= 0:
		c.pace = nil
	case c.limits == nil || l.Rate != c.limits.Rate:
		c.pace = rate.NewLimiter(rate.Limit(l.Rate), int(min(max(l.Rate, 1), math.MaxInt32)))
	}
	c.limits = l
}

// ID returns the connection's number, which no other has had. It may be called at any time.
func (c *Conn) ID() int64 { return c.id }

// Addr and Local return the ends of the connection. They may be called at any time.
func (c *Conn) Addr() net.Addr  { return c.nc.RemoteAddr() }
func (c *Conn) Local() net.Addr { return c.nc.LocalAddr() }

// TLS returns the state of a connection with TLS, after its handshake; nil without.
func (c *Conn) TLS() *tls.ConnectionState {
	if t, ok := c.nc.(*tls.Conn); ok {
		state := t.ConnectionState()
		return &state
	}
	return nil
}

// Version returns the version of RESP: 2 or 3.
func (c *Conn) Version() int { return c.version }

// Server returns the server.
func (c *Conn) Server() *Server { return c.s }

// Args returns the words of the command that runs, or ran: see Options.Observe.
func (c *Conn) Args() [][]byte { return c.args }

// Failed returns the reply of the command that ran if it was an error, "" otherwise; of several that
// ran with one RunAll it isn't known. See Options.Observe.
func (c *Conn) Failed() string { return c.failure }

// Close ends the connection after the replies are out.
func (c *Conn) Close() { c.last = true }

// Longest returns the bytes of the longest string that may be replied now: clients take MaxString, and
// one whose replies are larger than the limit is cut.
func (c *Conn) Longest() int {
	const head = 64 // of the reply around it
	return max(min(c.limits.Output-len(c.out), MaxString)-head, 0)
}

// Commit says that the replies since the last write rest on the journal's position pos.
func (c *Conn) Commit(pos uint64) { c.commit = max(c.commit, pos) }

// Exclusive runs f while no other client's command runs. Others' commands may run before f does, after
// the call.
func (c *Conn) Exclusive(f func()) {
	if c.alone {
		f()
		return
	}
	c.s.gate.RUnlock()
	c.s.gate.Lock()
	c.alone = true
	defer func() {
		c.alone = false
		c.s.gate.Unlock()
		c.s.gate.RLock()
	}()
	f()
}

// Aside runs f while other clients' EXEC and Exclusive may run: for what takes long. Within EXEC it just
// runs f.
func (c *Conn) Aside(f func()) {
	if !c.alone {
		c.s.gate.RUnlock()
		defer c.s.gate.RLock()
	}
	f()
}

// Aside makes a command that takes long, and changes nothing, one that runs as Conn.Aside does: all would
// wait for it otherwise.
func Aside(run func(c *Conn, args [][]byte)) func(c *Conn, args [][]byte) {
	return func(c *Conn, args [][]byte) { c.Aside(func() { run(c, args) }) }
}

func (c *Conn) setVersion(v int) {
	c.version = v
	c.proto.Store(int64(v))
}

// cut ends the connection at once, whatever it does. It may be called at any time.
func (c *Conn) cut() { c.nc.Close() }

// wake makes a connection that waits for its client look up. It may be called at any time.
func (c *Conn) wake() { c.nc.SetReadDeadline(time.Unix(1, 0)) }

func (c *Conn) state(doing int32, now time.Time) {
	c.doing.Store(doing)
	c.since.Store(now.UnixNano())
}

func (c *Conn) serve() {
	if err := handshake(c.s.alive, c.nc); err != nil {
		c.s.o.Log.Debug("a client's handshake failed", "addr", c.nc.RemoteAddr(), "err", err)
		return
	}
	c.welcome()
	for more := false; !c.last && !c.broken; {
		if !more {
			if c.read() != nil {
				return
			}
			c.obey()
		}
		more = c.answer()
		c.flush()
		c.keepPace()
		c.state(reading, time.Now())
	}
	if c.failed && !c.broken {
		c.linger()
	}
}

// linger lets a client that still sends read the error: a connection that is closed with bytes unread
// takes back what was written.
func (c *Conn) linger() {
	w, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || w.CloseWrite() != nil {
		return
	}
	c.nc.SetReadDeadline(time.Now().Add(time.Second))
	io.Copy(io.Discard, io.LimitReader(c.nc, 1<<20))
}

// read waits for bytes of the client.
func (c *Conn) read() error {
	for {
		room := c.in.room()
		c.hold()
		n, err := c.nc.Read(room)
		c.in.filled(n)
		if n > 0 {
			if n == len(room) {
				c.in.widen()
			}
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		c.nc.SetReadDeadline(time.Time{})
		if c.s.draining.Err() != nil {
			return err
		}
		c.in.shrink()
		c.out, c.ahead = nil, run{}
	}
}

func (c *Conn) hold() {
	if held := int64(c.in.held() + cap(c.out) + 24*cap(c.ahead.calls)); held != c.held.Load() {
		c.held.Store(held)
	}
}

// mostOutput is the bytes of replies that are written before all of a read's commands ran, and at once.
const mostOutput = 256 << 10

// flush waits until what the replies rest on is kept, and writes them.
func (c *Conn) flush() {
	if c.replies == 0 || c.broken {
		return
	}
	if c.commit > 0 && c.s.o.Wait != nil {
		if err := c.s.o.Wait(c.s.alive, c.commit); err != nil {
			c.out = c.out[:0]
			for range c.replies {
				c.Error(err.Error())
			}
		}
	}
	c.commit, c.replies = 0, 0
	for part := range slices.Chunk(c.out, mostOutput) {
		c.state(writing, time.Now())
		if _, err := c.nc.Write(part); err != nil {
			c.broken = true
			return
		}
	}
	c.doing.Store(running)
	if cap(c.out) > mostBuffer {
		c.out = nil
	}
	c.out = c.out[:0]
}

// keepPace waits before the next read as long as the commands that ran should have taken.
func (c *Conn) keepPace() {
	if c.pace == nil {
		return
	}
	for c.ran > 0 {
		n := min(c.ran, c.pace.Burst())
		if c.pace.WaitN(c.s.draining, n) != nil {
			break
		}
		c.ran -= n
	}
	c.ran = 0
}

// fail ends the connection after an error that the client is told of, unless it sent more than is read.
func (c *Conn) fail(err error) {
	if errors.Is(err, errTooLarge) {
		c.s.o.Log.Warn("a client was cut", "addr", c.nc.RemoteAddr(), "err", err)
		c.last = true
		return
	}
	c.s.o.Log.Debug("a client broke the protocol", "addr", c.nc.RemoteAddr(), "err", err)
	c.tell(func() { c.Error(fmt.Sprintf("ERR %v", err)) })
	c.last, c.failed = true, true
}
