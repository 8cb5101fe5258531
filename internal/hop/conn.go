package hop

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// Prepare prepares a transport for function Transport, before its first request, and returns it. With the connections that the transport
// then makes,
//
//   - the answer of an origin arrives that closes the connection before it has read the body: net/http would give the answer up at
//     the failed write;
//   - Transport sees the fields Connection and Transfer-Encoding, which net/http removes from some answers.
//
// It sets DialContext, based on the one that is there, and DialTLSContext.
func Prepare(t *http.Transport) *http.Transport {
	dial := t.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c}, nil
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := t.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		encrypted, err := handshake(ctx, t, c, address)
		if err != nil {
			_ = c.Close()
			return nil, err
		}
		if encrypted.ConnectionState().NegotiatedProtocol == "h2" {
			return encrypted, nil // which keeps both
		}
		return &conn{Conn: encrypted}, nil
	}
	return t
}

// handshake begins TLS on a connection.
func handshake(ctx context.Context, t *http.Transport, c net.Conn, address string) (*tls.Conn, error) {
	config := new(tls.Config)
	if t.TLSClientConfig != nil {
		config = t.TLSClientConfig.Clone()
	}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config.ServerName = host
	}
	if config.NextProtos = []string{"http/1.1"}; t.ForceAttemptHTTP2 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	if t.TLSHandshakeTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.TLSHandshakeTimeout)
		defer cancel()
	}
	encrypted := tls.Client(c, config)
	return encrypted, encrypted.HandshakeContext(ctx)
}

// conn is a connection to an origin. Its end is what Read returns: until then, writes succeed.
type conn struct {
	net.Conn
	broken atomic.Bool // the other side takes no more bytes

	mu   sync.Mutex
	some bool   // of a head is missing
	head []byte // of the answer
}

// Write writes bytes, or drops them after a write has failed.
func (c *conn) Write(p []byte) (int, error) {
	if c.broken.Load() {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.broken.Store(true)
		return len(p), nil
	}
	return n, err
}

// Read reads bytes and keeps those of the head of an answer.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.some {
			c.keep(p[:n])
		}
	}
	return n, err
}

// maxHead is the number of bytes above which a head is not kept. Transports have lower limits.
const maxHead = 1 << 20

// keep adds bytes to the head until it is complete, without interim answers.
func (c *conn) keep(p []byte) {
	c.head = append(c.head, p...)
	for {
		end := headEnd(c.head)
		switch {
		case end < 0:
			c.some = len(c.head) < maxHead
			return
		case isInterim(c.head):
			c.head = c.head[end:]
		default:
			c.head, c.some = c.head[:end], false
			return
		}
	}
}

// headEnd returns the length of a head with the empty line at its end, -1 if there is none.
func headEnd(b []byte) int {
	end := -1
	for _, empty := range []string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(b, []byte(empty)); i >= 0 && (end < 0 || i+len(empty) < end) {
			end = i + len(empty)
		}
	}
	return end
}

// isInterim reports whether a head is one of an interim answer.
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	return bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}

// begin begins the head of the next answer.
func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.some, c.head = true, c.head[:0]
}

// lost puts the fields back that net/http has removed from an answer. The error wraps ErrMalformed.
func (c *conn) lost(res *http.Response) error {
	if !res.Close && res.ProtoAtLeast(1, 1) {
		return nil // it removes none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var options []string
	for line := range strings.Lines(string(c.head)) {
		name, value, _ := strings.Cut(line, ":")
		switch name = strings.TrimRight(name, " "); {
		case strings.EqualFold(name, "Connection"):
			options = append(options, strings.TrimSpace(value))
		case strings.EqualFold(name, "Transfer-Encoding") && !res.ProtoAtLeast(1, 1): // RFC 9112, section 6.1
			return fmt.Errorf("%w: HTTP/1.0 with the transfer coding %s", ErrMalformed, strings.TrimSpace(value))
		}
	}
	if options != nil {
		res.Header["Connection"] = options
	}
	return nil
}
