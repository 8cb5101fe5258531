package resp

import (
	"errors"
	"io"
	"log/slog"
	"syscall"

	"github.com/umbel-filters/umbel/internal/event"
)

// logger returns the logger for one message about the client: clients cannot fill the log.
func (c *Conn) logger() *slog.Logger {
	return c.s.messages.Logger(c.s.o.Log).With("client", c.Addr().String())
}

// countHandshake counts and logs a TLS handshake that failed. It ignores connections that end without a
// word, as those of load balancers that check the port, and those that the server ends.
func (c *Conn) countHandshake(err error) {
	if c.s.alive.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return
	}
	c.s.handshakes.Add(1)
	c.logger().Warn("tls handshake failed", event.TLSFailed, "error", err)
}
