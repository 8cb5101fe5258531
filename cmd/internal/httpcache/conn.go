package httpcache

import (
	"context"
	"net"
	"net/http"
)

// Listen returns a listener whose connections send the header and the beginning of a body together with the rest, in
// one call of the system. net/http would use two, because its buffer has 4 KiB. The server must have ConnContext.
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if t, ok := c.(*net.TCPConn); ok && err == nil {
		return &conn{TCPConn: t}, nil
	}
	return c, err
}

// connKey is the key of the connection in the context of a request.
type connKey struct{}

// ConnContext adds the connection to the context of its requests.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// conn is a connection that can hold one short write back until the next one. The goroutine that serves a request
// writes to it.
type conn struct {
	*net.TCPConn
	holds   bool
	held    []byte
	vector  [2][]byte
	buffers net.Buffers // of vector; a field, so that it is not allocated for each write
}

// hold holds the next write of at most 4 KiB back, until another one or release.
func hold(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	if c != nil {
		c.holds = true
	}
	return c
}

// release writes what is held back.
func (c *conn) release() error {
	if c == nil {
		return nil
	}
	c.holds = false
	if len(c.held) == 0 {
		return nil
	}
	held := c.held
	c.held = held[:0]
	return second(c.TCPConn.Write(held))
}

func (c *conn) Write(p []byte) (int, error) {
	switch {
	case !c.holds:
		return c.TCPConn.Write(p)
	case len(c.held) == 0 && len(p) <= 4<<10:
		c.held = append(c.held, p...)
		return len(p), nil
	}
	c.holds = false
	c.vector[0], c.vector[1] = c.held, p
	c.buffers = c.vector[:]
	_, err := c.buffers.WriteTo(c.TCPConn)
	c.held, c.vector[1] = c.held[:0], nil
	if err != nil {
		return 0, err
	}
	return len(p), nil
}
