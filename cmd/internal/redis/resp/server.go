package resp

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

// Options configure a server.
type Options struct {
	// Commands are served in addition to the built-in ones (PING, HELLO, CLIENT, MULTI, …), and
	// replace those with the same name.
	Commands Table
	// Wait is called before replies are sent, with the highest position given to Commit since the
	// last call. If it returns an error, all replies become this error. No lock is held during the
	// call. nil: replies are sent at once.
	Wait func(ctx context.Context, pos uint64) error
	// Kept reports whether Wait would return at once. nil: it may wait.
	Kept func(pos uint64) bool
	// Room is called before commands with the flag "write" run. It waits until the journal has room.
	// No lock is held during the call. nil: there is always room.
	Room func(ctx context.Context) error
	// HasRoom reports whether Room would return at once. nil: it may wait.
	HasRoom func() bool
	// Follows reports whether another node leads, for the role in the reply to HELLO; nil: none does.
	Follows func() bool
	// ReadOnly is the reply to commands with the flag "write"; "": they run.
	ReadOnly string
	// Busy reports whether a change of the whole value makes other changes of the key wait, and whether
	// one waits. nil: there are no such changes.
	Busy func(key []byte) (busy, waiting bool)
	// Settle waits while a key is busy. No lock is held during the call. nil if Busy is.
	Settle func(ctx context.Context, key []byte)
	// Auth checks a password and returns the user, which is not nil. Its error is the reply,
	// including the prefix (WRONGPASS …). nil: there are no users.
	Auth func(c *Conn, user, password string) (any, error)
	// Default returns the user before AUTH, or nil if AUTH is required (-NOAUTH).
	Default func(c *Conn) any
	// Allow returns an error, which is the reply (NOPERM …), unless the client may run the command. It is
	// called once for consecutive calls with the same single key. nil: everything is allowed.
	Allow func(c *Conn, cmd *Command, args [][]byte) error
	// Slots redirects calls whose keys other nodes have. nil: all keys are here.
	Slots *slots.Place
	// Version returns a number that changes with the key's value, for WATCH.
	Version func(key []byte) uint64
	// Observe is called after n consecutive calls of a command, with their total duration, for SLOWLOG and the
	// audit log; Server.Usage has the totals. Args of the connection are those of the first call.
	Observe func(c *Conn, cmd *Command, n int, took time.Duration)
	// Redis is the version that HELLO reports, "" for 8.4.0; Modules are the modules it reports.
	Redis   string
	Modules []Module
	// Loading makes the server reply -LOADING to all commands without the flag "loading", also to
	// unknown ones, and to all with keys.
	Loading bool
	Limits  Limits
	// Loops is the number of event loops, which serve connections of TCP and Unix sockets on Linux. Other
	// connections, and all if it is negative, have a goroutine each. 0: one loop per two processors.
	Loops int
	// Budget bounds the memory that all clients take: incomplete commands, transactions and unsent
	// replies, without a part of each client. If it is full, the client with most is disconnected.
	// nil: no limit.
	Budget *budget.Budget
	Log    *slog.Logger
}

// Module is a module that HELLO reports, because clients look for it.
type Module struct {
	Name    string
	Version int64
}

// Limits limit the resources of clients.
type Limits struct {
	Clients   int           // concurrent connections; more are refused. 0: no limit
	Idle      time.Duration // idle time after which a client is disconnected; 0: never
	Bulk      int           // bytes of an argument; 0: 512 MiB
	Args      int           // arguments of a command; 0: 1<<20
	Query     int           // bytes of an incomplete command, and of a transaction; 0: 1 GiB
	Output    int           // bytes of unsent replies, above which a client is disconnected; 0: 1 GiB
	WriteWait time.Duration // time in which a client must read 256 KiB of replies; 0: one minute
	Rate      float64       // commands per second and client; faster clients are read more slowly; 0: no limit
}

func (l Limits) filled() Limits {
	set := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	set(&l.Bulk, 512<<20)
	set(&l.Args, 1<<20)
	set(&l.Query, 1<<30)
	set(&l.Output, 1<<30)
	if l.WriteWait <= 0 {
		l.WriteWait = time.Minute
	}
	return l
}

// Server is a RESP server.
type Server struct {
	o        Options // without Limits, which are in limits
	limits   atomic.Pointer[Limits]
	commands dispatch

	keys *keyLocks

	draining context.Context // done when Shutdown begins
	drain    context.CancelFunc
	alive    context.Context // done when clients are disconnected
	kill     context.CancelFunc

	mu          sync.Mutex
	listeners   map[net.Listener]struct{}
	conns       map[*Conn]struct{}
	maintaining bool
	maintenance sync.WaitGroup
	running     sync.WaitGroup // connections
	loops       loops
	lastID      atomic.Int64
	messages    *faultlog.Limit // about clients

	traffic                           []traffic // by lane
	errors                            errorCounts
	connections, rejected, handshakes atomic.Uint64
}

// NewServer returns a server. Call Serve next.
func NewServer(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Redis == "" {
		o.Redis = "8.4.0"
	}
	lanes := lanesOf(o.Loops)
	s := &Server{o: o, keys: newKeyLocks(), commands: newDispatch(lanes, sessionCommands(), o.Commands), traffic: make([]traffic, lanes),
		listeners: map[net.Listener]struct{}{}, conns: map[*Conn]struct{}{}, messages: faultlog.Clients()}
	s.SetLimits(o.Limits)
	s.draining, s.drain = context.WithCancel(context.Background())
	s.alive, s.kill = context.WithCancel(context.Background())
	return s
}

// SetLimits changes the limits. They apply to existing connections from their next input.
// Connections above a lower maximum stay.
func (s *Server) SetLimits(l Limits) {
	l = l.filled()
	s.limits.Store(&l)
}

// errShutdown is returned by Serve after Shutdown.
var errShutdown = errors.New("server is shut down")

// Serve serves clients until Shutdown, then returns nil. It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.draining.Err() != nil {
		s.mu.Unlock()
		l.Close()
		return errShutdown
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
		l.Close()
	}()
	pause := time.Duration(0)
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(nc)
		case s.draining.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default: // such as too many open files, which is temporary
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.o.Log.Warn("accept failed; retrying", event.AcceptFailed, "error", err, "delay", pause)
			select {
			case <-time.After(pause):
			case <-s.draining.Done():
			}
		}
	}
}

// ServeConn serves one connection until the client or the server ends it, and closes it.
func (s *Server) ServeConn(nc net.Conn) {
	if c := s.register(nc, nil); c != nil {
		s.serve(c)
	}
}

func (s *Server) start(nc net.Conn) {
	c := s.register(nc, s.loops.take)
	if c != nil && !s.loops.add(c) {
		go s.serve(c)
	}
}

// register adds a connection, or rejects it and returns nil. take is not nil if a loop may serve it.
func (s *Server) register(nc net.Conn, take func(*Server, net.Conn) net.Conn) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Err() != nil {
		nc.Close()
		return nil
	}
	if most := s.limits.Load().Clients; most > 0 && len(s.conns) >= most {
		s.rejected.Add(1)
		s.running.Go(func() { rejectConn(nc) })
		return nil
	}
	s.connections.Add(1)
	if take != nil {
		nc = take(s, nc)
	}
	c := newConn(s, nc)
	s.conns[c] = struct{}{}
	s.running.Add(1)
	if !s.maintaining {
		s.maintaining = true
		s.maintenance.Go(s.maintain)
	}
	return c
}

// rejectConn replies that there are too many connections.
func rejectConn(nc net.Conn) {
	nc.SetDeadline(time.Now().Add(time.Second))
	nc.Write([]byte("-ERR max number of clients reached\r\n"))
	nc.Close()
}

func (s *Server) serve(c *Conn) {
	c.serve()
	c.nc.Close()
	s.end(c)
}

// end removes a connection that is closed.
func (s *Server) end(c *Conn) {
	defer s.running.Done()
	c.releaseMemory()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Shutdown stops accepting clients, completes received commands and sends their replies. When ctx
// is done it disconnects the remaining clients and returns ctx.Err(); their commands may still be
// running.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.drain()
	for l := range s.listeners {
		l.Close()
	}
	s.mu.Unlock()
	s.Clients(func(c *Conn) { c.wake() })
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		s.loops.close()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.kill()
	s.Clients(func(c *Conn) { c.cut() })
	s.maintenance.Wait()
	return err
}

// Clients calls each with every connection.
func (s *Server) Clients(each func(*Conn)) {
	s.mu.Lock()
	all := make([]*Conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		each(c)
	}
}

// handshake does the TLS handshake, so that the client's certificate is known before
// authentication.
func handshake(ctx context.Context, nc net.Conn) error {
	t, ok := nc.(*tls.Conn)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return t.HandshakeContext(ctx)
}
