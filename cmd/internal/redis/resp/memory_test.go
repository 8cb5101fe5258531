package resp

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// send writes text without reading.
func send(t *testing.T, nc net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
}

// unfinished is the beginning of a command whose last word has n of 2n bytes.
func unfinished(n int) string {
	return fmt.Sprintf("*2\r\n$4\r\nECHO\r\n$%d\r\n%s", 2*n, strings.Repeat("x", n))
}

// forgetScratches empties the pool of memory that connections used.
func forgetScratches() {
	runtime.GC() // the pool keeps what it has for one collection more
	runtime.GC()
}

// A client with short commands is served although all memory is taken and the memory that it reuses is large.
func TestReusedMemoryOfShortCommands(t *testing.T) {
	defer forgetScratches()
	for range 16 {
		scratches.Put(&scratch{out: make([]byte, 0, maxKeptScratch-1<<10)})
	}
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1 << 20)
		if err := b.Take(1 << 20); err != nil {
			t.Fatal(err)
		}
		s := NewServer(Options{Budget: b})
		for range 8 {
			check(t, ask(t, pipe(t, s), "ping"), "+PONG")
		}
	})
}

// Clients that send halves of long commands lose their connections when all together hold too much,
// the one with most first. Others are not disturbed.
func TestMemoryOfAllClients(t *testing.T) {
	forgetScratches()
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(3 << 20)
		s := NewServer(Options{Budget: b})
		small, large, middle := pipe(t, s), pipe(t, s), pipe(t, s)
		check(t, ask(t, small, "ping"), "+PONG")
		send(t, large, unfinished(1600<<10))
		synctest.Wait()
		send(t, middle, unfinished(600<<10))
		synctest.Wait()
		if n := connections(s); n != 3 || b.Used() < 2<<20 {
			t.Fatalf("%d connections hold %d bytes", n, b.Used())
		}
		send(t, middle, strings.Repeat("x", 590<<10)) // 2 MiB and 1.2 MiB are too much
		synctest.Wait()
		if n := connections(s); n != 2 {
			t.Errorf("%d connections are left, want 2", n)
		}
		check(t, ask(t, small, "ping"), "+PONG")
		send(t, middle, strings.Repeat("x", 10<<10)+"\r\n")
		if _, err := io.ReadFull(middle, make([]byte, 1200<<10)); err != nil {
			t.Errorf("the smaller client: %v", err)
		}
		middle.Close()
		small.Close() // it may have memory that the others used
		synctest.Wait()
		if b.Used() != 0 {
			t.Errorf("%d bytes are taken after the clients have gone", b.Used())
		}
	})
}

// The commands of transactions count.
func TestMemoryOfTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1 << 20)
		nc := pipe(t, NewServer(Options{Budget: b}))
		check(t, ask(t, nc, "multi"), "+OK")
		word := strings.Repeat("x", 16<<10)
		refused := -1
		for i := range 100 {
			got := ask(t, nc, "echo "+word)
			if got[0] != "+QUEUED" {
				refused = i
				break
			}
		}
		if refused < 32 || refused > 80 {
			t.Errorf("command %d was refused, want about the 64th", refused)
		}
		check(t, ask(t, nc, "exec"), "-EXECABORT Transaction discarded because of previous errors.")
		check(t, ask(t, nc, "ping"), "+PONG")
		synctest.Wait()
		if b.Used() != 0 {
			t.Errorf("%d bytes are taken after the transaction", b.Used())
		}
	})
}

// A client that doesn't log in loses its place, however much it sends; one that does keeps it.
func TestLoginTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{Auth: func(*Conn, string, string) (any, error) { return "u", nil }})
		user := pipe(t, s)
		check(t, ask(t, user, "auth a b"), "+OK")
		pipe(t, s)
		drips := pipe(t, s)
		for range 5 {
			time.Sleep(10 * time.Second)
			check(t, ask(t, drips, "ping"), "-NOAUTH Authentication required.")
		}
		time.Sleep(2 * loginTime)
		if n := connections(s); n != 1 {
			t.Errorf("%d connections are left, want 1", n)
		}
		check(t, ask(t, user, "ping"), "+PONG")
	})
}
