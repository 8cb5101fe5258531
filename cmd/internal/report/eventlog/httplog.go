package eventlog

import (
	"log"
	"log/slog"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/report/loglimit"
)

// ServerLog returns a logger for http.Server.ErrorLog: package net/http reports faults of connections, which clients and origins
// cause, as text. At most 10 per second are logged, 100 at once.
func ServerLog(to *slog.Logger) *log.Logger {
	return log.New(httpFaults{loglimit.Clients(), to}, "", 0)
}

// redirect makes the standard logger write to a log. Transports and HTTP/2 of net/http use it, and so do servers without an ErrorLog.
func redirect(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(httpFaults{loglimit.Clients(), to})
}

// httpFaults logs lines of net/http.
type httpFaults struct {
	limit *loglimit.Limit
	log   *slog.Logger
}

// Write logs one line.
func (f httpFaults) Write(line []byte) (int, error) {
	f.limit.Logger(f.log).Warn("fault of an HTTP connection", "error", FaultText(line))
	return len(line), nil
}

// FaultText returns what a line of net/http states.
func FaultText(line []byte) string {
	return strings.TrimPrefix(strings.TrimSpace(string(line)), "http: ")
}
