package hop

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
)

// Dialer connects to an address, as net.Dialer.DialContext does.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Dial returns a Dialer for transports to origins. An origin may answer before it has read a body, and close the connection. What was
// sent after that is lost, but the answer is not: a transport of net/http would give it up at the failed write.
func Dial(dial Dialer) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &answering{Conn: c}, nil
	}
}

// answering is a connection of which the end is what Read returns. Writes succeed until then.
type answering struct {
	net.Conn
	broken atomic.Bool // the other side takes no more bytes
}

// Write writes bytes, or drops them after a write has failed.
func (c *answering) Write(p []byte) (int, error) {
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
