package resp

import (
	"context"
	"log/slog"
	"net"
	"time"
)

// Options say what a server does.
type Options struct {
	Commands Table
	// Wait is called before replies are written, with the largest number that Commit was
	// given since the last time. Where it fails, every reply that was to be written
	// becomes its error. nil: nothing is waited for.
	Wait func(ctx context.Context, pos uint64) error
	// Auth checks a user's password and returns who it is; the error is the reply. nil:
	// there are no users.
	Auth func(c *Conn, user, password string) (any, error)
	// Default is who a client is before AUTH, nil if it must say so first (-NOAUTH).
	Default func(c *Conn) any
	// Allow returns nil if the client may run the command with these arguments; the error is the
	// reply (NOPERM ...). nil: all may.
	Allow func(c *Conn, cmd *Command, args [][]byte) error
	// Version returns a number that changes when the key does: for WATCH.
	Version func(key []byte) uint64
	// Observe is told of commands that ran: how many in a row, and how long together. For metrics and SLOWLOG.
	Observe func(c *Conn, cmd *Command, n int, took time.Duration)
	Limits  Limits
	Log     *slog.Logger
}

// Limits bound what a client may ask for.
type Limits struct {
	Clients   int           // connections at once; further ones get an error
	Idle      time.Duration // a silent client is cut after it; 0: never
	Bulk      int           // bytes of one argument; 0: 512 MiB
	Args      int           // arguments of one command; 0: 1<<20
	Query     int           // bytes of one command before it is whole; 0: 1 GiB
	Output    int           // bytes of replies that wait for a client that doesn't read
	WriteWait time.Duration // how long a write to such a client may take
	Rate      float64       // commands a second of one client; 0: no limit
}

// Table is the commands by their names in lower case; "client|kill" is a subcommand of "client".
type Table map[string]*Command

// Command is one command.
type Command struct {
	Name                    string   // lower case
	Arity                   int      // words with the name; -n: at least n
	Flags                   []string // as COMMAND INFO shows them: "write", "denyoom", "module"
	Categories              []string // "@write", "@bloom"
	FirstKey, LastKey, Step int
	Right                   string // what a user needs on its keys: "read", "add", "remove", "admin", or "" for nothing
	Summary                 string // one line, for COMMAND DOCS
	// Run answers one call with exactly one reply. args are valid until it returns.
	Run func(c *Conn, args [][]byte)
	// RunAll answers calls that came in a row in one pipeline, of this command and with the same
	// first key, each with exactly one reply. nil: Run answers them one by one.
	RunAll func(c *Conn, calls [][][]byte)
}

// Server speaks RESP.
type Server struct{ o Options }

func NewServer(o Options) *Server { return &Server{o: o} }

// Serve answers clients until Shutdown, then returns nil.
func (s *Server) Serve(l net.Listener) error { panic("todo") }

// Shutdown stops taking clients, lets commands that came in whole end and their replies go out, and
// cuts what is left when ctx is done.
func (s *Server) Shutdown(ctx context.Context) error { panic("todo") }

// Clients calls each with every connection.
func (s *Server) Clients(each func(*Conn)) { panic("todo") }

// Commands returns the table that the server was given.
func (s *Server) Commands() Table { return s.o.Commands }

// Exclusive runs f while no other client's command runs, as EXEC does.
func (s *Server) Exclusive(f func()) { panic("todo") }

// Conn is a client's connection. Its methods are for the command that runs.
type Conn struct {
	// User is who the client is, as Auth returned it.
	User any
	// Slot is for commands to keep digests and answers in between calls.
	Slot any
}

func (c *Conn) ID() int64       { panic("todo") }
func (c *Conn) Addr() net.Addr  { panic("todo") }
func (c *Conn) Local() net.Addr { panic("todo") }
func (c *Conn) Version() int    { panic("todo") } // 2 or 3
func (c *Conn) Server() *Server { panic("todo") }
func (c *Conn) Close()          { panic("todo") } // after the replies are out

// Commit says that the replies since the last write rest on the journal's position pos.
func (c *Conn) Commit(pos uint64) { panic("todo") }

// Replies. Each of Array, Map and Set is followed by as many elements as it says.
func (c *Conn) Simple(s string)     { panic("todo") } // +s
func (c *Conn) Error(s string)      { panic("todo") } // -s: with its prefix, ERR or another
func (c *Conn) Int(n int64)         { panic("todo") }
func (c *Conn) Bool(b bool)         { panic("todo") } // RESP2: 1 or 0
func (c *Conn) Bulk(b []byte)       { panic("todo") }
func (c *Conn) BulkString(s string) { panic("todo") }
func (c *Conn) Verbatim(s string)   { panic("todo") } // RESP2: a bulk string
func (c *Conn) Double(f float64)    { panic("todo") } // RESP2: a bulk string
func (c *Conn) Null()               { panic("todo") } // RESP2: $-1
func (c *Conn) NullArray()          { panic("todo") } // RESP2: *-1
func (c *Conn) Array(n int)         { panic("todo") }
func (c *Conn) Map(n int)           { panic("todo") } // n pairs; RESP2: an array of 2n
func (c *Conn) Set(n int)           { panic("todo") }
