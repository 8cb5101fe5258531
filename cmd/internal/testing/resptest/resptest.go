// Package resptest has a RESP client and a server for tests. The client formats replies as text:
//
//	+OK   -ERR no such key   :1   $3:"abc"   *2[:1, _]   %1[$4:"keys", ,10]   #t
//
// The transcripts of RedisBloom have the same format.
package resptest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/report/messagetest"
)

// patience is how long a client waits to send a command, and for each reply.
const patience = time.Minute

// Client is a connection. Its methods end the test if the connection breaks, or after a minute without a reply.
type Client struct {
	t         testing.TB
	conn      net.Conn
	r         *bufio.Reader
	unlimited bool
}

// Dial connects to a server until the end of the test.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return On(t, conn)
}

// On returns a client of a connection, which is closed at the end of the test.
func On(t testing.TB, conn net.Conn) *Client {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	return &Client{t: t, conn: conn, r: bufio.NewReader(conn)}
}

// Serve runs a server until the end of the test and returns its address.
func Serve(t testing.TB, s *resp.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_ = s.Shutdown(ctx) // disconnects clients that are left
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// WithoutDeadline lets the client wait for replies for any time, instead of a minute for each.
func (c *Client) WithoutDeadline() *Client {
	c.unlimited = true
	return c
}

// begin sets the deadline of the next call.
func (c *Client) begin() {
	c.t.Helper()
	if c.unlimited {
		return
	}
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
}

// Expect sends lines and compares the replies that follow each.
func (c *Client) Expect(lines ...string) {
	c.t.Helper()
	for i := 0; i < len(lines); i += 2 {
		if got := c.Line(lines[i]); got != lines[i+1] {
			c.t.Errorf("%s\n got %.600s\nwant %s", lines[i], got, lines[i+1])
		}
	}
}

// Want sends a line and compares how the reply begins.
func (c *Client) Want(line, reply string) {
	c.t.Helper()
	if got := c.Line(line); !strings.HasPrefix(got, reply) {
		c.t.Errorf("%s: %s, want %s", line, got, reply)
	}
}

// Do sends a command and returns its reply.
func (c *Client) Do(words ...string) string {
	c.t.Helper()
	c.Send(words...)
	return c.Reply()
}

// Line is Do for words without spaces, written as one line.
func (c *Client) Line(line string) string {
	c.t.Helper()
	return c.Do(strings.Fields(line)...)
}

// Send sends a command.
func (c *Client) Send(words ...string) {
	c.t.Helper()
	list := make([][]byte, len(words))
	for i, w := range words {
		list[i] = []byte(w)
	}
	c.begin()
	if _, err := c.conn.Write(resp.Append(nil, list...)); err != nil {
		c.t.Fatal(err)
	}
}

// Reply reads the next reply. The text of an error must be one that users can understand.
func (c *Client) Reply() string {
	c.t.Helper()
	c.begin()
	s, err := read(c.r)
	if err != nil {
		c.t.Fatal(err)
	}
	if text, ok := strings.CutPrefix(s, "-"); ok {
		if fault := messagetest.Fault(text); fault != "" {
			c.t.Errorf("%s: %s", fault, s)
		}
	}
	return s
}

// Bulk returns the bytes of a string reply. It ends the test if the reply is not a string.
func Bulk(t testing.TB, reply string) string {
	t.Helper()
	_, quoted, ok := strings.Cut(reply, ":")
	s, err := strconv.Unquote(quoted)
	if !ok || !strings.HasPrefix(reply, "$") || err != nil {
		t.Fatalf("reply %.200s, want a string", reply)
	}
	return s
}

func read(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", fmt.Errorf("an empty line instead of a reply")
	}
	switch line[0] {
	case '$', '=':
		n, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		if n < 0 {
			return line, nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s:%q", line, b[:n]), nil
	case '*', '~', '%', '>':
		n, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		if n < 0 {
			return line, nil
		}
		if line[0] == '%' {
			n *= 2
		}
		parts := make([]string, n)
		for i := range parts {
			if parts[i], err = read(r); err != nil {
				return "", err
			}
		}
		return line + "[" + strings.Join(parts, ", ") + "]", nil
	}
	return line, nil
}

// Rest reads until the server ends the connection.
func (c *Client) Rest() string {
	c.t.Helper()
	c.begin()
	b, err := io.ReadAll(c.r)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}
