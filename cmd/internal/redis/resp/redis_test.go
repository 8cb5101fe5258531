package resp

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "ask redis-server again for testdata/redis")

// talk is what a client sends and what it gets.
type talk struct {
	send   []byte
	reply  string
	closed bool
}

// ending is a command that does not exist. Its reply shows that all others have arrived.
const ending = "the-end-of-the-talk"

func (w talk) with(t *testing.T, nc net.Conn) talk {
	t.Helper()
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		nc.Write(slices.Concat(w.send, Append(nil, []byte(ending))))
	}()
	var got []byte
	b := make([]byte, 4096)
	for {
		n, err := nc.Read(b)
		got = append(got, b[:n]...)
		if reply, found := strings.CutSuffix(string(got), "-"+unknown([][]byte{[]byte(ending)})+"\r\n"); found {
			return talk{w.send, reply, false}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%q: no end after %q", w.send, got)
		}
		if err != nil { // io.EOF, or a connection that was reset
			return talk{w.send, string(got), true}
		}
	}
}

// same takes out what differs from one connection to the next.
func (w talk) same() string {
	s := regexp.MustCompile(`id\r\n:\d+`).ReplaceAllString(w.reply, "id\r\n:1")
	if w.closed {
		return strconv.Quote(s) + " closed"
	}
	return strconv.Quote(s)
}

func readTalks(t *testing.T, file string) (talks []talk, lines []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var w talk
	lines = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for n, line := range lines {
		rest := strings.TrimSpace(line[min(1, len(line)):])
		switch {
		case strings.HasPrefix(line, ">"):
			raw, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, n+1, err)
			}
			w.send = append(w.send, raw...)
		case strings.HasPrefix(line, ":"):
			words, ok := split(nil, []byte(rest))
			if !ok {
				t.Fatalf("%s:%d: quotes", file, n+1)
			}
			w.send = Append(w.send, words...)
		case strings.HasPrefix(line, "<"):
			w.reply = rest
			talks = append(talks, w)
			w = talk{}
		}
	}
	return talks, lines
}

// talkCommands are as much of Redis as the talks need.
func talkCommands() (Table, func([]byte) uint64) {
	var mu sync.Mutex
	values, versions := map[string]string{}, map[string]uint64{}
	set := func(key, value []byte) {
		mu.Lock()
		defer mu.Unlock()
		versions[string(key)]++
		if values[string(key)] = string(value); value == nil {
			delete(values, string(key))
		}
	}
	key := Command{FirstKey: 1, LastKey: 1, Step: 1}
	get, put, del, shutdown := key, key, key, key
	get.Name, get.Arity, get.Run = "get", 2, func(c *Conn, args [][]byte) {
		mu.Lock()
		defer mu.Unlock()
		if v, ok := values[string(args[1])]; ok {
			c.BulkString(v)
		} else {
			c.Null()
		}
	}
	put.Name, put.Arity, put.Run = "set", -3, func(c *Conn, args [][]byte) {
		set(args[1], args[2])
		c.Simple("OK")
	}
	del.Name, del.Arity, del.LastKey, del.Run = "del", -2, -1, func(c *Conn, args [][]byte) {
		set(args[1], nil)
		c.Int(1)
	}
	shutdown = Command{Name: "shutdown", Arity: -1, Flags: []string{"no_multi"}, Run: ok}
	return Table{"get": &get, "set": &put, "del": &del, "shutdown": &shutdown}, func(key []byte) uint64 {
		mu.Lock()
		defer mu.Unlock()
		return versions[string(key)]
	}
}

// talkOptions make a server that talks as Redis with a password, or without one if it is "".
func talkOptions(password string) Options {
	table, version := talkCommands()
	o := Options{Commands: table, Version: version, Redis: "7.0.15"}
	if password != "" {
		o.Auth = func(_ *Conn, user, given string) (any, error) {
			if user != "default" || given != password {
				return nil, errors.New("WRONGPASS invalid username-password pair or user is disabled.")
			}
			return user, nil
		}
	}
	return o
}

var passwords = map[string]string{"open.txt": "", "password.txt": "sesame"}

func TestTalksAsRedis(t *testing.T) { overBoth(t, checkTalksAsRedis) }

func checkTalksAsRedis(t *testing.T, loops int) {
	for _, file := range slices.Sorted(maps.Keys(passwords)) {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", "redis", file)
			talks, lines := readTalks(t, path)
			if *update {
				record(t, path, talks, lines, passwords[file])
				talks, _ = readTalks(t, path)
			}
			o := talkOptions(passwords[file])
			o.Loops = loops
			_, dial := serve(t, o)
			for _, w := range talks {
				if got := w.with(t, dial()).same(); got != w.reply {
					t.Errorf("%q:\n got %s\nwant %s", w.send, got, w.reply)
				}
			}
		})
	}
}

// TestRedisTalksSo compares what the talks say with the server they are of.
func TestRedisTalksSo(t *testing.T) {
	for _, file := range slices.Sorted(maps.Keys(passwords)) {
		t.Run(file, func(t *testing.T) {
			dial := redisServer(t, passwords[file])
			talks, _ := readTalks(t, filepath.Join("testdata", "redis", file))
			for _, w := range talks {
				if got := w.with(t, dial()).same(); got != w.reply {
					t.Errorf("%q:\n got %s\nwant %s", w.send, got, w.reply)
				}
			}
		})
	}
}

func record(t *testing.T, path string, talks []talk, lines []string, password string) {
	dial := redisServer(t, password)
	var out strings.Builder
	for _, line := range lines {
		if strings.HasPrefix(line, "<") {
			line = "< " + talks[0].with(t, dial()).same()
			talks = talks[1:]
		}
		fmt.Fprintln(&out, line)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// redisServer starts the redis-server on PATH, if it is the version that the talks are of.
func redisServer(t *testing.T, password string) (dial func() net.Conn) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server on PATH: apt-get install redis-server")
	}
	if v, err := exec.Command(program, "--version").Output(); err != nil || !strings.Contains(string(v), "v=7.0.15 ") {
		t.Skipf("redis-server is %q, not 7.0.15", v)
	}
	socket := filepath.Join(t.TempDir(), "redis.sock")
	args := []string{"--port", "0", "--unixsocket", socket, "--save", "", "--daemonize", "no"}
	if password != "" {
		args = append(args, "--requirepass", password)
	}
	cmd := exec.Command(program, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	ready := bufio.NewScanner(out)
	for ready.Scan() && !strings.Contains(ready.Text(), "ready to accept connections at") && !strings.Contains(ready.Text(), "accept connections") {
	}
	go io.Copy(io.Discard, out)
	return func() net.Conn {
		nc, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		return nc
	}
}

// serve starts a server that ends with the test.
func serve(t testing.TB, o Options) (*Server, func() net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(o)
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s, func() net.Conn {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return nc
	}
}
