package resp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// held is a table of commands with one key. "hold" waits until release is closed.
func held(release chan struct{}) Table {
	one := func(flags string, run func(c *Conn, args [][]byte)) *Command {
		return &Command{Arity: 2, Flags: strings.Fields(flags), FirstKey: 1, LastKey: 1, Step: 1, Run: run}
	}
	ok := func(c *Conn, _ [][]byte) { c.Simple("OK") }
	hold := func(c *Conn, _ [][]byte) {
		<-release
		c.Simple("OK")
	}
	t := Table{"get": one("readonly", ok), "set": one("write", ok), "hold": one("readonly", hold), "long": one("write", hold), "measured": one("readonly", ok)}
	t["long"].Long = func([][]byte) uint64 { return 0 }
	for name, cmd := range t {
		cmd.Name = name
	}
	t["measured"].Long = func(args [][]byte) uint64 { return uint64(len(args[1])) << 10 }
	return t
}

// elsewhere returns a key whose lock is not that of k.
func elsewhere(s *Server, k string) string {
	for i := range 100 {
		other := fmt.Sprint("other", i)
		if !slices.Equal(s.keys.add(nil, []byte(k)), s.keys.add(nil, []byte(other))) {
			return other
		}
	}
	panic("all keys have the same lock")
}

// While EXEC runs, and while a client waits for it, everything else goes on: commands without keys and
// on other keys, also transactions.
func TestOnlyTheKeysOfExecWait(t *testing.T) { overBoth(t, checkOnlyTheKeysOfExecWait) }

func checkOnlyTheKeysOfExecWait(t *testing.T, loops int) {
	release, entered := make(chan struct{}), make(chan struct{})
	table := held(release)
	hold := table["hold"].Run
	table["hold"].Run = func(c *Conn, args [][]byte) {
		close(entered)
		hold(c, args)
	}
	s, dial := serve(t, Options{Loops: loops, Commands: table})
	exec, waiting, quick := dial(), dial(), dial()
	ask(t, exec, "multi", "hold k")
	exec.Write(say("exec"))
	<-entered
	waiting.Write(say("get k"))
	other := elsewhere(s, "k")
	check(t, ask(t, quick, "ping", "get "+other, "set "+other, "multi", "set "+other, "exec"),
		"+PONG", "+OK", "+OK", "+OK", "+QUEUED", "*[+OK]")
	close(release)
	check(t, replies(t, exec, 1), "*[+OK]")
	check(t, replies(t, waiting, 1), "+OK")
}

// Nobody waits for a long command, not even who uses its keys in a transaction.
func TestNobodyWaitsForLongCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := NewServer(Options{Commands: held(release)})
		long, quick := pipe(t, s), pipe(t, s)
		long.Write(say("long k"))
		synctest.Wait()
		check(t, ask(t, quick, "get k", "multi", "set k", "exec", "get k"), "+OK", "+OK", "+QUEUED", "*[+OK]", "+OK")
		close(release)
		check(t, replies(t, long, 1), "+OK")
	})
}

// A client that waits for room in the journal, or for a change of a whole value, holds no lock.
func TestWaitsWithoutLocks(t *testing.T) {
	for _, what := range []string{"room", "settle"} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			o := Options{Commands: held(nil)}
			if what == "room" {
				o.Room = func(context.Context) error { <-free; return nil }
			} else {
				settled := make(chan struct{})
				o.Busy = func(key []byte) (busy, waiting bool) {
					if string(key) != "k" {
						t.Errorf("Busy gets key %q", key)
					}
					select {
					case <-settled:
						return false, false
					default:
						return true, false
					}
				}
				var once sync.Once
				o.Settle = func(context.Context, []byte) {
					<-free
					once.Do(func() { close(settled) })
				}
			}
			s := NewServer(o)
			write, exec, quick := pipe(t, s), pipe(t, s), pipe(t, s)
			write.Write(say("set k"))
			ask(t, exec, "multi", "get k", "set k")
			exec.Write(say("exec"))
			synctest.Wait()
			check(t, ask(t, quick, "ping", "get k", "multi", "get k", "exec"), "+PONG", "+OK", "+OK", "+QUEUED", "*[+OK]")
			close(free)
			check(t, replies(t, write, 1), "+OK")
			check(t, replies(t, exec, 1), "*[+OK, +OK]")
		})
	}
}

// A command that found its key idle holds its lock and waits for a change that began then. A transaction, even
// one that only reads, waits for the change without asking for the lock, so that queries are answered.
func TestTransactionsBehindAStuckCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var waiting atomic.Bool
		table := held(release)
		set := table["set"].Run
		table["set"].Run = func(c *Conn, args [][]byte) {
			waiting.Store(true)
			<-release
			waiting.Store(false)
			set(c, args)
		}
		s := NewServer(Options{
			Commands: table,
			Busy:     func([]byte) (bool, bool) { return waiting.Load(), waiting.Load() },
			Settle:   func(context.Context, []byte) { <-release },
		})
		stuck, exec, quick := pipe(t, s), pipe(t, s), pipe(t, s)
		stuck.Write(say("set k"))
		synctest.Wait()
		ask(t, exec, "multi", "get k")
		exec.Write(say("exec"))
		synctest.Wait()
		check(t, ask(t, quick, "ping", "get k"), "+PONG", "+OK")
		close(release)
		check(t, replies(t, stuck, 1), "+OK")
		check(t, replies(t, exec, 1), "*[+OK]")
	})
}

// The long commands of a transaction are limited in sum.
func TestLongCommandsInTransactions(t *testing.T) { overBoth(t, checkLongCommandsInTransactions) }

func checkLongCommandsInTransactions(t *testing.T, loops int) {
	nc := connect(t, NewServer(Options{Loops: loops, Commands: held(nil)}))
	half := strings.Repeat("k", 512)
	got := ask(t, nc, "multi", "measured "+half, "measured "+half, "measured k", "get k", "exec", "measured "+half+half+half)
	want := "*[+OK, +OK, -ERR MEASURED works through 1024 bytes"
	if last := got[5]; !strings.HasPrefix(last, want) || !strings.HasSuffix(last, ", +OK]") {
		t.Errorf("EXEC replies %s, want %s …", last, want)
	}
	if got[6] != "+OK" {
		t.Errorf("outside of a transaction: %s", got[6])
	}
}

// Transactions on the same keys in different orders don't deadlock.
func TestOrderOfKeys(t *testing.T) { overBoth(t, checkOrderOfKeys) }

func checkOrderOfKeys(t *testing.T, loops int) {
	_, dial := serve(t, Options{Loops: loops, Commands: held(nil)})
	done := make(chan struct{})
	for i := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			nc := dial()
			defer nc.Close()
			keys := []string{"a", "b", "c", "a"}
			if i%2 == 0 {
				slices.Reverse(keys)
			}
			for range 200 {
				call := []string{"multi"}
				for _, k := range keys {
					call = append(call, "set "+k)
				}
				ask(t, nc, append(call, "exec")...)
			}
		}()
	}
	for range 4 {
		<-done
	}
}
