package resp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipe connects to a server without a network: what is written at once, up to minBuffer bytes, is
// read at once.
func pipe(t testing.TB, s *Server) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		s.ServeConn(server)
		close(done)
	}()
	t.Cleanup(func() {
		client.Close()
		<-done
		s.Shutdown(context.Background())
	})
	return client
}

// overBoth runs a test with event loops and with a goroutine for each connection.
func overBoth(t *testing.T, test func(t *testing.T, loops int)) {
	t.Run("loops", func(t *testing.T) { test(t, 2) })
	t.Run("goroutines", func(t *testing.T) { test(t, -1) })
}

// connect connects to a server by a pair of Unix sockets, which a loop may serve.
func connect(t testing.TB, s *Server) net.Conn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s.start(server)
	t.Cleanup(func() {
		client.Close()
		s.Shutdown(context.Background())
	})
	return client
}

// say writes a command a line, words separated by blanks, all at once.
func say(lines ...string) []byte {
	var b []byte
	for _, l := range lines {
		b = append(b, command(strings.Fields(l)...)...)
	}
	return b
}

// ask sends commands and returns as many replies.
func ask(t testing.TB, nc net.Conn, lines ...string) []string {
	t.Helper()
	go nc.Write(say(lines...))
	return replies(t, nc, len(lines))
}

func replies(t testing.TB, nc net.Conn, n int) (all []string) {
	t.Helper()
	r := bufio.NewReader(nc)
	for range n {
		v, err := readReply(r)
		if err != nil {
			t.Fatalf("after %q: %v", all, err)
		}
		all = append(all, v.String())
	}
	return all
}

func check(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// addTo returns a table with commands that do n of something, and what they were called with.
func addTo() (Table, func() []string) {
	var mu sync.Mutex
	var calls []string
	note := func(kind string, all ...[][]byte) {
		mu.Lock()
		defer mu.Unlock()
		var words []string
		for _, args := range all {
			words = append(words, string(bytes.Join(args, []byte(" "))))
		}
		calls = append(calls, kind+": "+strings.Join(words, ", "))
	}
	one := func(c *Conn, args [][]byte) {
		note("one", args)
		c.Int(1)
	}
	add := &Command{Name: "add", Arity: -3, FirstKey: 1, LastKey: 1, Step: 1, Run: one,
		RunAll: func(c *Conn, all [][][]byte) {
			note("all", all...)
			for i := range all {
				c.Int(int64(i))
			}
		}}
	return Table{
		"add":      add,
		"get":      {Name: "get", Arity: 2, FirstKey: 1, LastKey: 1, Step: 1, Run: one},
		"conf|get": {Name: "conf|get", Arity: 3, Run: one},
		"conf|set": {Name: "conf|set", Arity: 3, Run: one},
	}, func() []string { mu.Lock(); defer mu.Unlock(); return calls }
}

func TestCallsInARow(t *testing.T) { overBoth(t, checkCallsInARow) }

func checkCallsInARow(t *testing.T, loops int) {
	table, calls := addTo()
	nc := connect(t, NewServer(Options{Loops: loops, Commands: table}))
	check(t, ask(t, nc, "add k 1", "add k 2", "ADD k 3", "ADD k 4", "ADD j 5", "add j", "ADD j 6", "GET j", "GET k", "conf get x", "conf set x"),
		":0", ":1", ":0", ":1", ":1", "-ERR wrong number of arguments for 'add' command", ":1", ":1", ":1", ":1", ":1")
	check(t, calls(), "all: add k 1, add k 2", "all: ADD k 3, ADD k 4", "one: ADD j 5", "one: ADD j 6", "one: GET j", "one: GET k", "one: conf get x", "one: conf set x")
}

func TestWaitBeforeReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []uint64
		failure := errors.New("MISCONF the disk is full")
		goOn := make(chan error)
		s := NewServer(Options{
			Commands: Table{"put": {Name: "put", Arity: 2, Run: func(c *Conn, args [][]byte) {
				n, _ := number(args[1])
				c.Commit(uint64(n))
				c.Array(2)
				c.Int(int64(n))
				c.Error("ERR inside")
			}}},
			Wait: func(_ context.Context, pos uint64) error {
				waits = append(waits, pos)
				return <-goOn
			},
		})
		nc := pipe(t, s)
		for i, c := range []struct {
			err  error
			want []string
		}{
			{nil, []string{"*[:3, -ERR inside]", "*[:9, -ERR inside]", "+PONG", "+OK", "+OK"}},
			{failure, slices.Repeat([]string{"-" + failure.Error()}, 5)},
		} {
			go nc.Write(say("put 3", "put 9", "ping", "client setname x", "multi"))
			synctest.Wait()
			if len(waits) != i+1 || waits[i] != 9 {
				t.Fatalf("waited for %v, want 9 once more", waits)
			}
			first := make([]byte, 1)
			nc.SetReadDeadline(time.Now().Add(time.Second))
			if n, err := nc.Read(first); n > 0 || err == nil {
				t.Fatal("a reply came before what it rests on was kept")
			}
			nc.SetReadDeadline(time.Time{})
			goOn <- c.err
			check(t, replies(t, nc, 5), c.want...)
			ask(t, nc, "discard")
		}
		go nc.Write(say("multi", "put 1", "put 2", "exec"))
		synctest.Wait()
		goOn <- failure
		check(t, replies(t, nc, 4), slices.Repeat([]string{"-" + failure.Error()}, 4)...)
		check(t, ask(t, nc, "ping"), "+PONG") // rests on nothing
	})
}

// What EXEC runs doesn't mix with others' commands on the same key.
func TestTransactionsAreAlone(t *testing.T) { overBoth(t, checkTransactionsAreAlone) }

func checkTransactionsAreAlone(t *testing.T, loops int) {
	var inside atomic.Int64
	step := func(by int64) *Command {
		return &Command{Arity: 2, FirstKey: 1, LastKey: 1, Step: 1, Run: func(c *Conn, args [][]byte) { c.Int(inside.Add(by)) }}
	}
	_, dial := serve(t, Options{Loops: loops, Commands: Table{"enter": step(1), "leave": step(-1), "look": step(0)}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			nc := dial()
			defer nc.Close()
			for range 100 {
				if i%2 == 0 {
					check(t, ask(t, nc, "multi", "enter k", "look k", "leave k", "exec")[4:], "*[:1, :1, :0]")
				} else {
					check(t, ask(t, nc, "look k", "look k"), ":0", ":0")
				}
			}
		})
	}
	all.Wait()
}

func TestAllow(t *testing.T) { overBoth(t, checkAllow) }

func checkAllow(t *testing.T, loops int) {
	table, _ := addTo()
	var mu sync.Mutex
	var asked []string
	denied := "secret"
	s := NewServer(Options{Loops: loops, Commands: table, Allow: func(c *Conn, cmd *Command, args [][]byte) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, cmd.Name)
		if len(args) > 1 && string(args[1]) == denied {
			return errors.New("NOPERM no")
		}
		return nil
	}})
	nc := connect(t, s)
	check(t, ask(t, nc, "ADD k 1", "ADD k 2", "ADD secret 3", "GET k", "GET k", "GET j"), ":0", ":1", "-NOPERM no", ":1", ":1", ":1")
	mu.Lock()
	check(t, asked, "add", "add", "get", "get")
	mu.Unlock()
	check(t, ask(t, nc, "MULTI", "GET secret", "EXEC"), "+OK", "-NOPERM no", "-EXECABORT Transaction discarded because of previous errors.")
	check(t, ask(t, nc, "MULTI", "GET k", "ADD j x"), "+OK", "+QUEUED", "+QUEUED")
	mu.Lock()
	denied = "k"
	mu.Unlock()
	check(t, ask(t, nc, "EXEC"), "*[-NOPERM no, :1]")
}

func TestObserve(t *testing.T) { overBoth(t, checkObserve) }

func checkObserve(t *testing.T, loops int) {
	table, _ := addTo()
	var mu sync.Mutex
	var seen []string
	s := NewServer(Options{Loops: loops, Commands: table, Observe: func(c *Conn, cmd *Command, n int, took time.Duration) {
		if took < 0 {
			t.Errorf("%s took %v", cmd.Name, took)
		}
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%s %d %q", cmd.Name, n, c.Args()))
	}})
	nc := connect(t, s)
	ask(t, nc, "ADD k 1", "ADD k 2", "GET a", "GET b", "conf get x", "nosuch")
	ask(t, nc, "MULTI", "GET c", "EXEC")
	nc.Close()
	mu.Lock()
	defer mu.Unlock()
	check(t, seen, `add 2 ["ADD" "k" "1"]`, `get 2 ["GET" "a"]`, `conf|get 1 ["conf" "get" "x"]`, `multi 1 ["MULTI"]`, `get 1 ["GET" "c"]`, `exec 1 ["GET" "c"]`)
}

func TestClientsThatDontRead(t *testing.T) {
	big := Table{"big": {Name: "big", Arity: 1, Run: func(c *Conn, _ [][]byte) { c.Bulk(make([]byte, 1<<20)) }}}
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{Commands: big, Limits: Limits{WriteWait: 10 * time.Second}})
		nc := pipe(t, s)
		nc.Write(say("big", "big"))
		time.Sleep(9 * time.Second)
		if connections(s) != 1 {
			t.Error("cut too early")
		}
		time.Sleep(6 * time.Second)
		if connections(s) != 0 {
			t.Error("a client that doesn't read is still there")
		}
	})
	t.Run("output", func(t *testing.T) {
		s := NewServer(Options{Commands: big, Limits: Limits{Output: 3 << 20}})
		nc := pipe(t, s)
		go nc.Write(say("big", "multi", "big", "big", "big", "big", "exec"))
		r := bufio.NewReader(nc)
		got := 0
		for ; ; got++ {
			if _, err := readReply(r); err != nil {
				break
			}
		}
		if got != 1 { // the first was over Limits.Output, the rest is one reply
			t.Errorf("%d replies came, want 1", got)
		}
	})
}

func connections(s *Server) (n int) {
	s.Clients(func(*Conn) { n++ })
	return n
}

func TestIdleClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{Limits: Limits{Idle: time.Minute}})
		quiet, busy := pipe(t, s), pipe(t, s)
		for range 5 {
			time.Sleep(20 * time.Second)
			check(t, ask(t, busy, "ping"), "+PONG")
		}
		if _, err := quiet.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a silent client: %v, want %v", err, io.EOF)
		}
		if n := connections(s); n != 1 {
			t.Errorf("%d clients, want 1", n)
		}
	})
}

// TestSilentClientsLetGo of their buffers, and are served after it.
func TestSilentClientsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{})
		nc := pipe(t, s)
		long := strings.Repeat("x", 50_000)
		held := func() (n int64) {
			s.Clients(func(c *Conn) { n = c.memory.Load() })
			return n
		}
		for range 3 {
			check(t, ask(t, nc, "echo "+long), strconv.Quote(long))
			nc.Write([]byte("*2\r\n$4\r\nECHO\r\n$4\r\nab"))
			synctest.Wait()
			if held() < 50_000 {
				t.Errorf("%d bytes are held", held())
			}
			nc.Write([]byte("cd\r\n"))
			check(t, replies(t, nc, 1), `"abcd"`)
			time.Sleep(time.Minute)
			if held() > minBuffer {
				t.Errorf("%d bytes are held by a silent client", held())
			}
		}
		nc.Write([]byte("*2\r\n$4\r\nECHO\r\n$4\r\nab"))
		time.Sleep(time.Minute)
		nc.Write([]byte("cd\r\n"))
		check(t, replies(t, nc, 1), `"abcd"`)
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{Limits: Limits{Rate: 100}})
		nc := pipe(t, s)
		began := time.Now()
		ask(t, nc, slices.Repeat([]string{"ping"}, 100)...)
		if took := time.Since(began); took > 0 {
			t.Errorf("a second's worth took %v", took)
		}
		ask(t, nc, slices.Repeat([]string{"ping"}, 500)...)
		if took := time.Since(began); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("five seconds' worth more took %v", took)
		}
	})
}

func TestMostClients(t *testing.T) { overBoth(t, checkMostClients) }

func checkMostClients(t *testing.T, loops int) {
	_, dial := serve(t, Options{Loops: loops, Limits: Limits{Clients: 2}})
	a, b := dial(), dial()
	defer a.Close()
	defer b.Close()
	check(t, ask(t, a, "ping"), "+PONG")
	check(t, ask(t, b, "ping"), "+PONG")
	c := dial()
	defer c.Close()
	check(t, replies(t, c, 1), "-ERR max number of clients reached")
}

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := NewServer(Options{Commands: Table{"slow": {Name: "slow", Arity: 1, Run: func(c *Conn, _ [][]byte) {
			<-release
			c.Simple("DONE")
		}}}})
		idle, busy := pipe(t, s), pipe(t, s)
		busy.Write(say("slow", "ping"))
		done := make(chan error)
		go func() { done <- s.Shutdown(t.Context()) }()
		if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a silent client: %v, want %v", err, io.EOF)
		}
		synctest.Wait()
		close(release)
		check(t, replies(t, busy, 2), "+DONE", "+PONG")
		if err := <-done; err != nil {
			t.Error(err)
		}
		late, server := net.Pipe()
		s.ServeConn(server)
		if _, err := late.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a client after the end: %v, want %v", err, io.EOF)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{
			Commands: Table{"put": {Name: "put", Arity: 1, Run: func(c *Conn, _ [][]byte) { c.Commit(1); c.Simple("OK") }}},
			Wait:     func(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() },
		})
		nc := pipe(t, s)
		nc.Write(say("put"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != context.DeadlineExceeded {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
		if _, err := nc.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a client that was cut: %v, want %v", err, io.EOF)
		}
	})
}

func TestServeAfterShutdown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Options{})
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Serve(l); err != errShutdown {
		t.Errorf("got %v, want %v", err, errShutdown)
	}
}

// TestLongPipeline: replies go out while commands still come in, else both sides would wait forever.
func TestLongPipeline(t *testing.T) { overBoth(t, checkLongPipeline) }

func checkLongPipeline(t *testing.T, loops int) {
	_, dial := serve(t, Options{Loops: loops})
	nc := dial()
	defer nc.Close()
	const n = 20_000
	word := strings.Repeat("x", 1000)
	go nc.Write(bytes.Repeat(command("ECHO", word), n))
	r := bufio.NewReader(nc)
	for i := range n {
		if v, err := readReply(r); err != nil || v.text != word {
			t.Fatalf("reply %d: %v, %v", i, v, err)
		}
	}
}

func TestManyWords(t *testing.T) { overBoth(t, checkManyWords) }

func checkManyWords(t *testing.T, loops int) {
	count := Table{"count": {Name: "count", Arity: -1, Run: func(c *Conn, args [][]byte) { c.Int(int64(len(args))) }}}
	_, dial := serve(t, Options{Loops: loops, Commands: count})
	nc := dial()
	defer nc.Close()
	words := slices.Repeat([]string{"item"}, 300_000)
	words[0] = "count"
	go nc.Write(command(words...))
	check(t, replies(t, nc, 1), ":300000")
}

func TestLargeArgument(t *testing.T) { overBoth(t, checkLargeArgument) }

func checkLargeArgument(t *testing.T, loops int) {
	size := 512 << 20
	if testing.Short() {
		size = 8 << 20
	}
	_, dial := serve(t, Options{Loops: loops, Commands: Table{"size": {Name: "size", Arity: 2, Run: func(c *Conn, args [][]byte) { c.Int(int64(len(args[1]))) }}}})
	nc := dial()
	defer nc.Close()
	go func() {
		fmt.Fprintf(nc, "*2\r\n$4\r\nSIZE\r\n$%d\r\n", size)
		part := make([]byte, 1<<20)
		for range size >> 20 {
			nc.Write(part)
		}
		nc.Write([]byte("\r\n"))
	}()
	check(t, replies(t, nc, 1), ":"+strconv.Itoa(size))
}

// TestGarbage: a client that does not send RESP gets an error or loses its connection, without an effect on others.
func TestGarbage(t *testing.T) { overBoth(t, checkGarbage) }

func checkGarbage(t *testing.T, loops int) {
	_, dial := serve(t, Options{Loops: loops, Limits: Limits{Query: 1 << 20}})
	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []byte("*$:+-0123456789\r\n\"'\\ PINGEXECMULTI\x00\xff")
	for range 100 {
		nc := dial()
		b := make([]byte, rng.IntN(4000))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		var all sync.WaitGroup
		all.Go(func() { io.Copy(io.Discard, nc) })
		nc.Write(b)
		nc.(*net.TCPConn).CloseWrite()
		all.Wait()
		nc.Close()
	}
	nc := dial()
	defer nc.Close()
	check(t, ask(t, nc, "ping"), "+PONG")
}
