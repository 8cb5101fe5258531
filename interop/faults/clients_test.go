package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestIdleConnections holds many connections open, and sees that another is served.
func TestIdleConnections(t *testing.T) {
	p := start(t, t.TempDir())
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
}

// TestClientThatNeverReads asks for more than it takes. The node must cut it in the end, and serve
// others meanwhile.
func TestClientThatNeverReads(t *testing.T) {
	p := start(t, t.TempDir())
	other := dial(t, p)
	do(t, other, "BF.RESERVE", "large", "0.01", "20000000")
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// Each answer has 16 MiB.
	command := []byte("*3\r\n$11\r\nBF.SCANDUMP\r\n$5\r\nlarge\r\n$1\r\n1\r\n")
	c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	for range 10_000 {
		if _, err := c.Write(command); err != nil {
			break
		}
	}
	begin := time.Now()
	for range 100 {
		do(t, other, "BF.ADD", "k", "a")
	}
	t.Logf("100 commands of another client took %v", time.Since(begin))
}

// TestGarbage sends the node what no client would, to both ports.
func TestGarbage(t *testing.T) {
	p := start(t, t.TempDir())
	end := time.Now().Add(*garbage)
	pieces := []string{
		"*3\r\n$6\r\nBF.ADD\r\n", "$1\r\nk\r\n", "*-7\r\n", "*99999999999\r\n", "$-2\r\n", "\x00\xff", "\r\n", "\n", "*1\r\n$4\r\nQUIT\r\n",
		"\"", "'", strings.Repeat("a", 70_000), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "*2\r\n$536870913\r\n", "MULTI\r\n", "EXEC\r\n", "HELLO 3\r\n", "HELLO 9\r\n",
		"CLIENT REPLY OFF\r\n", "RESET\r\n", "BF.INSERT k ITEMS\r\n", "UM.IMPORT k x\r\n", "BF.LOADCHUNK k 1 x\r\n", "RESTORE k 0 x\r\n",
	}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for time.Now().Before(end) {
				c, err := net.Dial("tcp", p.Addr)
				if err != nil {
					t.Errorf("the node takes no more clients: %v", err)
					return
				}
				var b bytes.Buffer
				for range rand.IntN(50) {
					if rand.IntN(4) == 0 {
						noise := make([]byte, rand.IntN(200))
						for i := range noise {
							noise[i] = byte(rand.IntN(256))
						}
						b.Write(noise)
						continue
					}
					b.WriteString(pieces[rand.IntN(len(pieces))])
				}
				c.SetDeadline(time.Now().Add(time.Second))
				c.Write(b.Bytes())
				c.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, c)
				c.Close()
			}
		})
	}
	clients.Wait()
	c := dial(t, p)
	do(t, c, "BF.ADD", "after", "a")
	select {
	case <-p.Ended():
		t.Errorf("the node ended:\n%s", p.Output())
	default:
	}
}

// TestHugeArgument sends the longest argument there may be, and one byte more.
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

// TestAnnouncedAndNotSent announces much and sends nothing, which must not take memory.
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
