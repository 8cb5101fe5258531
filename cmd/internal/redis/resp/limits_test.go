package resp

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Limits that change are in force for who is there and for who comes.
func TestSetLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{})
		nc := pipe(t, s)
		check(t, ask(t, nc, "echo abcdef"), `"abcdef"`)
		s.SetLimits(Limits{Rate: 10, Bulk: 8, Idle: time.Minute})
		began := time.Now()
		for range 30 {
			check(t, ask(t, nc, "ping"), "+PONG")
		}
		if took := time.Since(began); took < time.Second || took > 3*time.Second {
			t.Errorf("three seconds' worth took %v", took)
		}
		check(t, ask(t, nc, "echo 123456789"), "-ERR Protocol error: invalid bulk length")
		other := pipe(t, s)
		check(t, ask(t, other, "ping"), "+PONG")
		time.Sleep(2 * time.Minute)
		if n := connections(s); n != 0 {
			t.Errorf("%d silent clients are left", n)
		}
		s.SetLimits(Limits{})
		again := pipe(t, s)
		began = time.Now()
		for range 100 {
			check(t, ask(t, again, "ping"), "+PONG")
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("without a limit it took %v", took)
		}
	})
}

// A rate beyond all numbers of calls is no rate of one.
func TestVeryHighRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nc := pipe(t, NewServer(Options{Limits: Limits{Rate: 1e300}}))
		began := time.Now()
		for range 100 {
			check(t, ask(t, nc, "ping"), "+PONG")
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// Where the last client goes the server is down at once.
func TestShutdownIsQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{})
		nc := pipe(t, s)
		check(t, ask(t, nc, "ping"), "+PONG")
		began := time.Now()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// Logins take their time, and EXEC has the server for itself.
func TestNoLoginInTransactions(t *testing.T) { overBoth(t, checkNoLoginInTransactions) }

func checkNoLoginInTransactions(t *testing.T, loops int) {
	s := NewServer(Options{Loops: loops,
		Auth:    func(*Conn, string, string) (any, error) { return "u", nil },
		Default: func(*Conn) any { return "default" },
	})
	nc := connect(t, s)
	const refused = "-ERR AUTH is not allowed inside a transaction"
	check(t, ask(t, nc, "auth a b", "multi", "auth a b", "hello 2 auth a b", "exec", "auth a b"),
		"+OK", "+OK", "+QUEUED", "+QUEUED", "*["+refused+", "+refused+"]", "+OK")
}

// What a client gives the server to remember has bounds.
func TestBoundsOfNames(t *testing.T) { overBoth(t, checkBoundsOfNames) }

func checkBoundsOfNames(t *testing.T, loops int) {
	s := NewServer(Options{Loops: loops, Version: func([]byte) uint64 { return 0 }})
	nc := connect(t, s)
	long, longer := strings.Repeat("n", 2<<10), strings.Repeat("n", 65<<10)
	check(t, ask(t, nc, "client setname "+long, "hello 2 setname "+long, "client setinfo lib-name "+long, "watch "+longer, "watch "+long),
		"-"+badName, "-"+badName, "-ERR lib-name cannot contain spaces, newlines or special characters.",
		"-ERR too many or too long keys are watched", "+OK")
}

func TestStats(t *testing.T) { overBoth(t, checkStats) }

func checkStats(t *testing.T, loops int) {
	s := NewServer(Options{Loops: loops, Limits: Limits{Clients: 1}})
	nc := connect(t, s)
	check(t, ask(t, nc, "ping", "nosuch", "multi", "echo", "exec"), "+PONG", "-ERR unknown command 'nosuch', with args beginning with: ",
		"+OK", "-ERR wrong number of arguments for 'echo' command", "-EXECABORT Transaction discarded because of previous errors.")
	other := connect(t, s)
	if _, err := other.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	got := s.Stats()
	if got.Connections != 1 || got.Rejected != 1 || got.Errors != 3 {
		t.Errorf("%+v, want 1 connection, 1 rejected, 3 errors", got)
	}
	if in, out := uint64(len(say("ping", "nosuch", "multi", "echo", "exec"))), got.Written; got.Read != in || out < 100 {
		t.Errorf("%d bytes were read, want %d; %d written", got.Read, in, out)
	}
}
