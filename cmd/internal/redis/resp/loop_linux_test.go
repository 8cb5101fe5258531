package resp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/await"
)

// gate is a table of commands that enter and wait until they are released: "short", which a loop runs, and "slow".
func gate(entered chan<- struct{}, release <-chan struct{}) Table {
	run := func(c *Conn, _ [][]byte) {
		entered <- struct{}{}
		<-release
		c.Simple("DONE")
	}
	return Table{
		"short": {Name: "short", Arity: 1, Flags: []string{"fast"}, Run: run},
		"slow":  {Name: "slow", Arity: 1, Run: run},
	}
}

// While a connection of a loop waits for something, the others are served.
func TestLoopsDontWait(t *testing.T) {
	for _, what := range []string{"slow", "short", "room", "settle", "disk", "auth", "client"} {
		t.Run(what, func(t *testing.T) {
			entered, release := make(chan struct{}), make(chan struct{})
			wait := func() { entered <- struct{}{}; <-release }
			o := Options{Loops: 1, Commands: gate(entered, release)}
			o.Commands["set"] = &Command{Name: "set", Arity: 2, Flags: []string{"write", "fast"}, FirstKey: 1, LastKey: 1, Step: 1, Run: func(c *Conn, _ [][]byte) {
				c.Commit(1)
				c.Simple("DONE")
			}}
			call, reply := what, "+DONE"
			switch what {
			case "room":
				o.Room, call = func(context.Context) error { wait(); return nil }, "set k"
			case "disk":
				o.Wait, call = func(context.Context, uint64) error { wait(); return nil }, "set k"
			case "settle":
				busy := true
				o.Busy = func([]byte) (bool, bool) { return busy, busy }
				o.Settle, call = func(context.Context, []byte) { wait(); busy = false }, "set k"
			case "auth":
				o.Auth, call, reply = func(*Conn, string, string) (any, error) { wait(); return "u", nil }, "auth a b", "+OK"
				o.Default = func(*Conn) any { return "default" }
			case "client":
				size := 64 << 20 // more than the kernel keeps for a client
				o.Commands["big"] = &Command{Name: "big", Arity: 1, Flags: []string{"fast"}, Run: func(c *Conn, _ [][]byte) {
					go func() { entered <- struct{}{} }()
					c.Bulk(make([]byte, size))
				}}
				call = "big"
			}
			_, dial := serve(t, o)
			waiting, quick := dial(), dial()
			defer waiting.Close()
			defer quick.Close()
			check(t, ask(t, quick, "ping"), "+PONG")
			waiting.Write(say(call))
			<-entered
			check(t, ask(t, quick, "ping"), "+PONG")
			check(t, ask(t, quick, "client list id 9"), `""`) // runs outside of the loop
			close(release)
			if what == "client" {
				if _, err := io.CopyN(io.Discard, waiting, 64<<20); err != nil {
					t.Error(err)
				}
				return
			}
			check(t, replies(t, waiting, 1), reply)
			check(t, ask(t, waiting, "ping"), "+PONG")
		})
	}
}

// Connections whose replies wait for the disk wait together.
func TestLoopWaitsOnceForTheDisk(t *testing.T) {
	const n = 20
	waits := make(chan uint64, 10*n)
	release, entered, on := make(chan struct{}), make(chan struct{}), make(chan struct{})
	kept := func(uint64) bool {
		select {
		case <-release:
			return true
		default:
			return false
		}
	}
	_, dial := serve(t, Options{Loops: 1, Kept: kept,
		Commands: Table{
			"hold": {Name: "hold", Arity: 1, Flags: []string{"fast"}, Run: func(c *Conn, _ [][]byte) { close(entered); <-on; c.Simple("OK") }},
			"put":  {Name: "put", Arity: 1, Flags: []string{"fast"}, Run: func(c *Conn, _ [][]byte) { c.Commit(1); c.Simple("OK") }},
		},
		Wait: func(context.Context, uint64) error {
			if !kept(1) {
				waits <- 1
				<-release
			}
			return nil
		}})
	holder := dial()
	defer holder.Close()
	var all []net.Conn
	for range n {
		nc := dial()
		defer nc.Close()
		check(t, ask(t, nc, "ping"), "+PONG")
		all = append(all, nc)
	}
	holder.Write(say("hold")) // the loop may continue without it after stuckTime
	<-entered
	for _, nc := range all {
		nc.Write(say("put"))
	}
	close(on)
	check(t, replies(t, holder, 1), "+OK")
	<-waits
	check(t, ask(t, holder, "ping"), "+PONG")
	close(release)
	for _, nc := range all {
		check(t, replies(t, nc, 1), "+OK")
	}
	if more := len(waits); more > n/2 {
		t.Errorf("%d connections waited separately", more+1)
	}
}

// The limits of clients hold in loops.
func TestLimitsInLoops(t *testing.T) {
	big := Table{"big": {Name: "big", Arity: 1, Flags: []string{"fast"}, Run: func(c *Conn, _ [][]byte) { c.Bulk(make([]byte, 64<<20)) }}}
	ends := func(t *testing.T, o Options, sends string) {
		t.Helper()
		o.Loops = 1
		s, dial := serve(t, o)
		nc := dial()
		defer nc.Close()
		io.WriteString(nc, sends)
		await.True(t, "the connection is ended", func() bool { return connections(s) == 0 && s.Stats().Connections > 0 })
	}
	t.Run("idle", func(t *testing.T) { ends(t, Options{Limits: Limits{Idle: 20 * time.Millisecond}}, "PING\r\n") })
	t.Run("unread", func(t *testing.T) {
		ends(t, Options{Commands: big, Limits: Limits{WriteWait: 20 * time.Millisecond}}, "big\r\n")
	})
	t.Run("output", func(t *testing.T) { ends(t, Options{Commands: big, Limits: Limits{Output: 1 << 20}}, "big\r\n") })
	t.Run("query", func(t *testing.T) {
		ends(t, Options{Limits: Limits{Query: 1 << 20}}, "*2\r\n$4\r\nECHO\r\n$2000000\r\n")
	})
	t.Run("memory", func(t *testing.T) {
		ends(t, Options{Budget: budget.New(1 << 20)}, unfinished(2<<20))
	})
	t.Run("protocol", func(t *testing.T) { ends(t, Options{}, "*1\r\nx\r\n"+strings.Repeat("y", 1<<20)) })
	t.Run("rate", func(t *testing.T) {
		_, dial := serve(t, Options{Loops: 1, Limits: Limits{Rate: 100}})
		fast, other := dial(), dial()
		defer fast.Close()
		defer other.Close()
		go fast.Write(say(slices.Repeat([]string{"ping"}, 110)...))
		check(t, ask(t, other, "ping"), "+PONG")
		replies(t, fast, 110)
	})
}

// Connections that wait for input hold nothing, and a part of a command is kept.
func TestScratches(t *testing.T) {
	s, dial := serve(t, Options{Loops: 1})
	nc, other := dial(), dial()
	defer nc.Close()
	defer other.Close()
	for _, part := range []string{"*2\r\n$4\r\nECHO\r\n$6\r\nab", "cd", "ef\r\n"} {
		io.WriteString(nc, part)
		for range 10 {
			check(t, ask(t, other, "echo 123456"), `"123456"`)
		}
	}
	check(t, replies(t, nc, 1), `"abcdef"`)
	s.Clients(func(c *Conn) {
		await.True(t, "the connection holds no memory", func() bool { return c.memory.Load() == 0 })
	})
}

// Input and the end of the connection may come at once.
func TestInputBeforeTheEnd(t *testing.T) {
	_, dial := serve(t, Options{Loops: 1})
	for range 100 {
		nc := dial()
		nc.Write(say("ping", "ping"))
		nc.(*net.TCPConn).CloseWrite()
		got, err := io.ReadAll(nc)
		if err != nil || string(got) != "+PONG\r\n+PONG\r\n" {
			t.Fatalf("got %q, %v", got, err)
		}
		nc.Close()
	}
}

// An event of a closed connection may be noted for a new one with the same descriptor.
func TestEventOfAnotherConnection(t *testing.T) {
	s, dial := serve(t, Options{Loops: 1})
	nc := dial()
	defer nc.Close()
	check(t, ask(t, nc, "ping"), "+PONG")
	s.Clients(func(c *Conn) {
		k := c.nc.(*socket)
		k.loop.mu.Lock()
		k.note(unix.EPOLLHUP)
		k.loop.again(k)
		k.loop.mu.Unlock()
		await.True(t, "the event is handled", func() bool { return !k.hasInput() })
	})
	check(t, ask(t, nc, "ping"), "+PONG")
}

// A shutdown completes what runs, ends idle connections, and disconnects what does not end.
func TestShutdownOfLoops(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := NewServer(Options{Loops: 1, Commands: gate(entered, release)})
	idle, busy := connect(t, s), connect(t, s)
	busy.Write(say("slow"))
	<-entered
	done := make(chan error)
	go func() { done <- s.Shutdown(context.Background()) }()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle client: %v, want %v", err, io.EOF)
	}
	close(release)
	check(t, replies(t, busy, 1), "+DONE")
	if err := <-done; err != nil {
		t.Error(err)
	}
	never := make(chan struct{})
	s = NewServer(Options{Loops: 1, Commands: gate(entered, never)})
	stuck := connect(t, s)
	stuck.Write(say("short"))
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := stuck.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a client that was cut: %v, want %v", err, io.EOF)
	}
	close(never)
}

// Pipelines of many connections on few loops get all replies in order.
func TestManyConnections(t *testing.T) {
	for _, loops := range []int{1, 3} {
		_, dial := serve(t, Options{Loops: loops})
		done := make(chan error)
		const n = 50
		for i := range n {
			go func() {
				nc := dial()
				defer nc.Close()
				go func() {
					for j := range 300 {
						nc.Write(command("ECHO", fmt.Sprint(i, j, strings.Repeat("x", j*10))))
					}
				}()
				r := bufio.NewReader(nc)
				for j := range 300 {
					if v, err := readReply(r); err != nil || v.text != fmt.Sprint(i, j, strings.Repeat("x", j*10)) {
						done <- fmt.Errorf("connection %d: reply %d is %.40s, %v", i, j, v.text, err)
						return
					}
				}
				done <- nil
			}()
		}
		for range n {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}
