package eventlog

import (
	"log"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/umbel-filters/umbel/cmd/internal/report/loglimit"
)

// ServerLog returns a logger for http.Server.ErrorLog: package net/http reports faults of connections, which clients and origins
// cause, as text. At most 10 per second are logged, 100 at once. If handshakes is not nil, it counts failed TLS handshakes.
func ServerLog(to *slog.Logger, handshakes *atomic.Uint64) *log.Logger {
	if handshakes == nil {
		handshakes = new(atomic.Uint64)
	}
	return log.New(httpFaults{loglimit.Clients(), to, handshakes}, "", 0)
}

// redirect makes the standard logger write to a log. Transports and HTTP/2 of net/http use it.
func redirect(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(httpFaults{loglimit.Clients(), to, new(atomic.Uint64)})
}

// httpFaults logs lines of net/http.
type httpFaults struct {
	limit      *loglimit.Limit
	log        *slog.Logger
	handshakes *atomic.Uint64
}

// Write logs one line. Like package resp, it ignores connections that end before the handshake begins.
func (f httpFaults) Write(line []byte) (int, error) {
	text := FaultText(line)
	handshake, ok := strings.CutPrefix(text, "TLS handshake error from ")
	client, cause, _ := strings.Cut(handshake, ": ")
	switch {
	case !ok:
		f.limit.Logger(f.log).Warn("fault of an HTTP connection", "error", text)
	case cause == "EOF" || strings.HasSuffix(cause, "connection reset by peer"):
	default:
		f.handshakes.Add(1)
		f.limit.Logger(f.log).Warn("tls handshake failed", "client", client, "error", cause)
	}
	return len(line), nil
}

// FaultText returns what a line of net/http states.
func FaultText(line []byte) string {
	return strings.TrimPrefix(strings.TrimSpace(string(line)), "http: ")
}
