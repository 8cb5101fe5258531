package sidecar

import (
	"log"
	"log/slog"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/loglimit"
)

// ServerLog returns a logger for http.Server.ErrorLog: a server reports faults of connections, which clients cause, as text.
func ServerLog(to *slog.Logger) *log.Logger { return log.New(faults{loglimit.Clients(), to}, "", 0) }

type faults struct {
	limit *loglimit.Limit
	log   *slog.Logger
}

func (f faults) Write(message []byte) (int, error) {
	f.limit.Logger(f.log).Warn("fault of an HTTP connection", "error", strings.TrimPrefix(strings.TrimSpace(string(message)), "http: "))
	return len(message), nil
}
