package resp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/umbel-filters/umbel/internal/race"
)

// benchTable has a command that does nothing but reply, for one call and for many.
func benchTable() Table {
	return Table{"bf.add": {Name: "bf.add", Arity: 3, FirstKey: 1, LastKey: 1, Step: 1,
		Run: func(c *Conn, _ [][]byte) { c.Bool(true) },
		RunAll: func(c *Conn, calls [][][]byte) {
			for range calls {
				c.Bool(true)
			}
		}}}
}

var benchCalls = []struct {
	name        string
	call, reply []byte
}{
	{"ping", command("PING"), []byte("+PONG\r\n")},
	{"echo", command("ECHO", "key:000000012345"), []byte("$16\r\nkey:000000012345\r\n")},
	{"bf.add", command("BF.ADD", "filter", "key:000000012345"), []byte(":1\r\n")},
}

// pipelined sends a pipeline again and again, and reads the replies.
func pipelined(tb testing.TB, nc net.Conn, call, reply []byte, pipeline int) (once func()) {
	send, got := bytes.Repeat(call, pipeline), make([]byte, pipeline*len(reply))
	begin := make(chan struct{})
	tb.Cleanup(func() { close(begin) })
	go func() {
		for range begin {
			nc.Write(send)
		}
	}()
	return func() {
		begin <- struct{}{}
		if _, err := io.ReadFull(nc, got); err != nil || !bytes.Equal(got[:len(reply)], reply) {
			tb.Fatalf("%q, %v", got, err)
		}
	}
}

func BenchmarkServer(b *testing.B) {
	for _, c := range benchCalls {
		for _, pipeline := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/tcp/P=%d", c.name, pipeline), func(b *testing.B) {
				_, dial := serve(b, Options{Commands: benchTable()})
				nc := dial()
				b.Cleanup(func() { nc.Close() })
				benchPipeline(b, nc, c.call, c.reply, pipeline)
			})
			b.Run(fmt.Sprintf("%s/pipe/P=%d", c.name, pipeline), func(b *testing.B) {
				benchPipeline(b, pipe(b, NewServer(Options{Commands: benchTable()})), c.call, c.reply, pipeline)
			})
		}
	}
}

func benchPipeline(b *testing.B, nc net.Conn, call, reply []byte, pipeline int) {
	once := pipelined(b, nc, call, reply, pipeline)
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(b.N*pipeline)/b.Elapsed().Seconds(), "commands/s")
}

func TestServerAllocatesNothing(t *testing.T) { overBoth(t, checkServerAllocatesNothing) }

func checkServerAllocatesNothing(t *testing.T, loops int) {
	if race.Enabled && loops > 0 { // a sync.Pool then loses some of what it gets
		t.Skip("the race detector allocates")
	}
	for _, c := range benchCalls {
		_, dial := serve(t, Options{Loops: loops, Commands: benchTable()})
		nc := dial()
		t.Cleanup(func() { nc.Close() })
		if n := testing.AllocsPerRun(200, pipelined(t, nc, c.call, c.reply, 64)); n != 0 {
			t.Errorf("%s: %v allocations for 64 calls, want 0", c.name, n)
		}
	}
}

// BenchmarkIdleConnection measures the memory of a connection that was used and is silent, both of
// its ends.
func BenchmarkIdleConnection(b *testing.B) {
	const n = 1000
	for b.Loop() {
		b.StopTimer()
		s, dial := serve(b, Options{})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		var all []net.Conn
		for range n {
			nc := dial()
			ask(b, nc, "ping")
			all = append(all, nc)
		}
		s.Clients((*Conn).wake)
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.HeapAlloc+after.StackInuse)-float64(before.HeapAlloc+before.StackInuse))/n, "B/conn")
		for _, nc := range all {
			nc.Close()
		}
	}
}
