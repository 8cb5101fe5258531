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
)

// Options say what a server does.
type Options struct {
	// Commands are served beside those of the session (PING, HELLO, CLIENT, MULTI ...), and
	// instead of those that have the same name.
	Commands Table
	// Wait is called before replies are written, with the largest number that Commit was
	// given since the last time. Where it fails, every reply that was to be written
	// becomes its error. No lock is held meanwhile. nil: nothing is waited for.
	Wait func(ctx context.Context, pos uint64) error
	// Auth checks a user's password and returns who it is, not nil; the error is the reply,
	// prefix and all (WRONGPASS ...). nil: there are no users.
	Auth func(c *Conn, user, password string) (any, error)
	// Default is who a client is before AUTH, nil if it must say so first (-NOAUTH).
	Default func(c *Conn) any
	// Allow returns nil if the client may run the command with these arguments; the error is the
	// reply (NOPERM ...). It is asked once for calls in a row that have one and the same key. nil: all may.
	Allow func(c *Conn, cmd *Command, args [][]byte) error
	// Version returns a number that changes when the key does: for WATCH.
	Version func(key []byte) uint64
	// Observe is told of commands that ran: how many in a row, and how long together. For metrics
	// and SLOWLOG; Args of the client are the first one's.
	Observe func(c *Conn, cmd *Command, n int, took time.Duration)
	// Redis is the version of Redis that HELLO names, "" for 8.4.0, and Modules what it lists.
	Redis   string
	Modules []Module
	Limits  Limits
	Log     *slog.Logger
}

// Module is what HELLO says of a module that clients look for.
type Module struct {
	Name    string
	Version int64
}

// Limits bound what a client may ask for.
type Limits struct {
	Clients   int           // connections at once; further ones get an error. 0: any number
	Idle      time.Duration // a silent client is cut after it; 0: never
	Bulk      int           // bytes of one argument; 0: 512 MiB
	Args      int           // arguments of one command; 0: 1<<20
	Query     int           // bytes of one command before it is whole, and of a transaction; 0: 1 GiB
	Output    int           // bytes of replies that wait to be written, beyond which a client is cut; 0: 1 GiB
	WriteWait time.Duration // how long a client may take to read 256 KiB of replies; 0: a minute
	Rate      float64       // commands a second of one client, which is read more slowly beyond; 0: no limit
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

// Server speaks RESP.
type Server struct {
	o        Options // but for Limits, which are in limits
	limits   atomic.Pointer[Limits]
	commands dispatch

	gate sync.RWMutex // held for reading while commands run, for writing by those that want to be alone

	draining context.Context // done when Shutdown begins
	drain    context.CancelFunc
	alive    context.Context // done when clients are cut
	die      context.CancelFunc

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[*Conn]struct{}
	tending   bool
	tended    sync.WaitGroup
	running   sync.WaitGroup // connections
	lastID    atomic.Int64
	refused   atomic.Int64
}

// NewServer returns a server that has yet to Serve.
func NewServer(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Redis == "" {
		o.Redis = "8.4.0"
	}
	s := &Server{o: o, commands: newDispatch(sessionCommands(), o.Commands),
		listeners: map[net.Listener]struct{}{}, conns: map[*Conn]struct{}{}}
	s.SetLimits(o.Limits)
	s.draining, s.drain = context.WithCancel(context.Background())
	s.alive, s.die = context.WithCancel(context.Background())
	return s
}

// SetLimits changes the limits, also of clients that are there: with what they send next. Those
// beyond a smaller number of clients stay.
func (s *Server) SetLimits(l Limits) {
	l = l.filled()
	s.limits.Store(&l)
}

// ErrShutdown is returned for a listener or a connection that comes after Shutdown.
var ErrShutdown = errors.New("the server is shut down")

// Serve answers clients until Shutdown, then returns nil. It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.draining.Err() != nil {
		s.mu.Unlock()
		l.Close()
		return ErrShutdown
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
		default: // such as too many open files: others will be closed
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.o.Log.Warn("a client couldn't be taken", "err", err, "again in", pause)
			select {
			case <-time.After(pause):
			case <-s.draining.Done():
			}
		}
	}
}

// ServeConn answers one client until it or the server ends, and closes the connection.
func (s *Server) ServeConn(nc net.Conn) {
	if c := s.join(nc); c != nil {
		s.serve(c)
	}
}

func (s *Server) start(nc net.Conn) {
	if c := s.join(nc); c != nil {
		go s.serve(c)
	}
}

// join makes a client of a connection, or turns it away and returns nil.
func (s *Server) join(nc net.Conn) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Err() != nil {
		nc.Close()
		return nil
	}
	if most := s.limits.Load().Clients; most > 0 && len(s.conns) >= most {
		s.refused.Add(1)
		s.running.Go(func() { refuse(nc) })
		return nil
	}
	c := newConn(s, nc)
	s.conns[c] = struct{}{}
	s.running.Add(1)
	if !s.tending {
		s.tending = true
		s.tended.Go(s.tend)
	}
	return c
}

// refuse tells a client that there is no place for it, with no more patience than that takes.
func refuse(nc net.Conn) {
	nc.SetDeadline(time.Now().Add(time.Second))
	nc.Write([]byte("-ERR max number of clients reached\r\n"))
	nc.Close()
}

func (s *Server) serve(c *Conn) {
	defer s.running.Done()
	c.serve()
	c.nc.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Shutdown stops taking clients, lets commands that came in whole end and their replies go out, and
// cuts what is left when ctx is done: then it returns its error, while commands may still be running.
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
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.die()
	s.Clients((*Conn).cut)
	s.tended.Wait()
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

// Received returns how many connections were taken and refused since the server was made.
func (s *Server) Received() (taken, refused int64) { return s.lastID.Load(), s.refused.Load() }

// Exclusive runs f while no client's command runs. It is not for commands: they have Conn.Exclusive.
func (s *Server) Exclusive(f func()) {
	s.gate.Lock()
	defer s.gate.Unlock()
	f()
}

// handshake lets a client show its certificate before it is asked who it is.
func handshake(ctx context.Context, nc net.Conn) error {
	t, ok := nc.(*tls.Conn)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return t.HandshakeContext(ctx)
}
