package node

import (
	"io"
	"log"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/umbel-filters/umbel/cmd/internal/report/loglimit"
)

// webLog logs what the HTTP servers report themselves. They report it as text, for http.Server.ErrorLog.
type webLog struct {
	limit      *loglimit.Limit // clients cause the messages
	handshakes *atomic.Uint64  // TLS handshakes that failed
}

// logger returns the ErrorLog of a server.
func (w webLog) logger(to *slog.Logger) *log.Logger { return log.New(webWriter{w, to}, "", 0) }

// webWriter receives one message per Write.
type webWriter struct {
	webLog
	log *slog.Logger
}

var _ io.Writer = webWriter{}

// Write logs a message. Like package resp, it ignores connections that end before the handshake begins.
func (w webWriter) Write(message []byte) (int, error) {
	text := strings.TrimPrefix(strings.TrimSpace(string(message)), "http: ")
	client, cause, ok := strings.Cut(strings.TrimPrefix(text, "TLS handshake error from "), ": ")
	switch {
	case !ok || !strings.HasPrefix(text, "TLS"):
		w.limit.Logger(w.log).Warn("fault of an HTTP connection", "error", text)
	case cause == "EOF" || strings.HasSuffix(cause, "connection reset by peer"):
	default:
		w.handshakes.Add(1)
		w.limit.Logger(w.log).Warn("tls handshake failed", "client", client, "error", cause)
	}
	return len(message), nil
}
