package faults

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestIdleConnections tests that a client is served next to many idle connections, and that
// these take little memory.
func TestIdleConnections(t *testing.T) {
	p := start(t, t.TempDir(), "--max-clients", strconv.Itoa(*idle+10))
	before, _ := resident(p.PID())
	conns := make([]net.Conn, 0, *idle)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for range *idle {
		c, err := net.Dial("tcp", p.Addr)
		if err != nil {
			t.Fatalf("after %d connections: %v", len(conns), err)
		}
		conns = append(conns, c)
	}
	c := dial(t, p)
	if got := do(t, c, "BF.ADD", "k", "a"); got != int64(1) {
		t.Errorf("BF.ADD = %v", got)
	}
	for _, i := range []int{0, *idle / 2, *idle - 1} {
		fmt.Fprint(conns[i], "PING\r\n")
		if line, err := bufio.NewReader(conns[i]).ReadString('\n'); line != "+PONG\r\n" {
			t.Errorf("connection %d: %q, %v", i, line, err)
		}
	}
	if after, err := resident(p.PID()); err == nil {
		each := (after - before) / int64(*idle)
		t.Logf("%d bytes of memory per connection", each)
		if each > 32<<10 {
			t.Errorf("an idle connection takes %d bytes, want at most %d", each, 32<<10)
		}
	}
}

// TestClientThatNeverReads has ten clients that send queries and read no replies. The node must
// serve other clients, keep its memory below a limit, and finally disconnect the ten.
func TestClientThatNeverReads(t *testing.T) {
	p := start(t, t.TempDir())
	other := dial(t, p)
	do(t, other, "BF.RESERVE", "large", "0.01", "20000000")
	var conns []net.Conn
	for range 10 {
		c, err := net.Dial("tcp", p.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
		// Each reply has 16 MiB.
		command := strings.Repeat("*3\r\n$11\r\nBF.SCANDUMP\r\n$5\r\nlarge\r\n$1\r\n1\r\n", 100)
		c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		for range 1000 {
			if _, err := io.WriteString(c, command); err != nil {
				break
			}
		}
	}
	begin := time.Now()
	for range 100 {
		do(t, other, "BF.ADD", "k", "a")
	}
	t.Logf("100 commands of another client took %v", time.Since(begin))
	if rss, err := resident(p.PID()); err == nil && rss > 1<<30 {
		t.Errorf("the node has %d MiB of memory", rss>>20)
	}
	if !*patient {
		return
	}
	time.Sleep(80*time.Second - time.Since(begin))
	for i, c := range conns {
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("client %d never read, but is still connected", i)
		}
	}
}

// respPieces and httpPieces are the parts of garbage, together with random bytes.
var (
	respPieces = []string{
		"*3\r\n$6\r\nBF.ADD\r\n", "$1\r\nk\r\n", "*-7\r\n", "*99999999999\r\n", "$-2\r\n", "\x00\xff", "\r\n", "\n", "*1\r\n$4\r\nQUIT\r\n",
		"\"", "'", strings.Repeat("a", 70_000), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "*2\r\n$536870913\r\n", "MULTI\r\n", "EXEC\r\n", "HELLO 3\r\n", "HELLO 9\r\n",
		"CLIENT REPLY OFF\r\n", "RESET\r\n", "BF.INSERT k ITEMS\r\n", "UM.IMPORT k x\r\n", "BF.LOADCHUNK k 1 x\r\n", "RESTORE k 0 x\r\n",
	}
	httpPieces = []string{
		"GET /v1/filters HTTP/1.1\r\nHost: localhost\r\n\r\n", "PUT /v1/filters/k HTTP/1.1\r\nHost: localhost\r\n", "POST /v1/filters/k/add HTTP/1.1\r\nHost: localhost\r\n",
		"POST /v1/filters/k/has HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n", "Content-Type: application/vnd.umbel.container\r\n", "Content-Type: application/x-ndjson\r\n",
		"Content-Type: application/octet-stream\r\n", "Content-Type: application/json\r\n", "Content-Length: 40\r\n", "Content-Length: 99999999999999\r\n", "Expect: 100-continue\r\n",
		"\r\n", "{\"keys\":[", "\"a\",", "]}", "{\"kind\":\"bloom\",\"keys\":1e300}", "5\r\nabcde\r\n", "ffffffffffffffff\r\n", "0\r\n\r\n", "Range: bytes=-1,5-2\r\n",
		"X: " + strings.Repeat("a", 70_000) + "\r\n", "DELETE /v1/filters/%ff%00 HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01",
	}
)

// TestGarbage sends garbage to both ports. The node must not panic or end, and must still serve
// clients.
func TestGarbage(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--max-memory", "256MiB")
	end := time.Now().Add(*garbage)
	var clients sync.WaitGroup
	var sent atomic.Int64
	for i := range 8 {
		addr, pieces := p.Addr, respPieces
		if i%2 == 1 {
			addr, pieces = p.HTTP, httpPieces
		}
		clients.Go(func() {
			for time.Now().Before(end) {
				b := randomGarbage(pieces)
				if err := send(addr, b); err != nil {
					t.Errorf("the node accepts no clients: %v", err)
					return
				}
				sent.Add(int64(len(b)))
			}
		})
	}
	clients.Wait()
	c := dial(t, p)
	do(t, c, "BF.ADD", "after", "a")
	if reply, err := http.Get("http://" + p.HTTP + "/readyz"); err != nil || reply.StatusCode != http.StatusOK {
		t.Errorf("/readyz: %v, %v", reply, err)
	} else {
		reply.Body.Close()
	}
	select {
	case <-p.Ended():
		t.Errorf("the node ended:\n%s", p.Output())
	default:
	}
	if strings.Contains(p.Output(), "panic") {
		t.Errorf("the node panicked:\n%s", p.Output())
	}
	t.Logf("%d MB of garbage", sent.Load()/1e6)
}

// randomGarbage returns pieces and random bytes in a random order.
func randomGarbage(pieces []string) []byte {
	var b bytes.Buffer
	for range rand.IntN(50) {
		if rand.IntN(4) > 0 {
			b.WriteString(pieces[rand.IntN(len(pieces))])
			continue
		}
		for range rand.IntN(200) {
			b.WriteByte(byte(rand.IntN(256)))
		}
	}
	return b.Bytes()
}

// send sends b and reads replies for at most a second. It returns an error if the connection is
// refused.
func send(addr string, b []byte) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	c.Write(b)
	c.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, c)
	return nil
}

// TestHugeArgument sends the longest permitted argument, and one that is a byte longer.
func TestHugeArgument(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 512 MiB")
	}
	p := start(t, t.TempDir())
	send := func(n int) (string, error) {
		c, err := net.Dial("tcp", p.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() {
			fmt.Fprintf(c, "*3\r\n$6\r\nBF.ADD\r\n$1\r\nk\r\n$%d\r\n", n)
			block := make([]byte, 1<<20)
			for left := n; left > 0; left -= len(block) {
				if _, err := c.Write(block[:min(left, len(block))]); err != nil {
					return
				}
			}
			c.Write([]byte("\r\n"))
		}()
		c.SetReadDeadline(time.Now().Add(2 * time.Minute))
		return bufio.NewReader(c).ReadString('\n')
	}
	if got, err := send(512 << 20); got != ":1\r\n" {
		t.Errorf("512 MiB: %q, %v", got, err)
	}
	if got, err := send(512<<20 + 1); got != "-ERR Protocol error: invalid bulk length\r\n" {
		t.Errorf("one byte more: %q, %v", got, err)
	}
	do(t, dial(t, p), "PING")
}

// TestAnnouncedAndNotSent announces long arguments and sends nothing. The node must not allocate
// memory for them.
func TestAnnouncedAndNotSent(t *testing.T) {
	p := start(t, t.TempDir())
	for range 200 {
		c, err := net.Dial("tcp", p.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "*1000000\r\n$536870912\r\n")
	}
	do(t, dial(t, p), "PING")
	if rss, err := resident(p.PID()); err == nil && rss > 512<<20 {
		t.Errorf("the node has %d MiB of memory", rss>>20)
	}
}
