package report

import (
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

// New returns the log of a program, which writes to a file or a pipe in the format text, json or auto, which is text on a
// terminal. What package net/http reports goes to it, too.
func New(to io.Writer, format string, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	var form slog.Handler = slog.NewJSONHandler(to, o)
	if file, ok := to.(*os.File); format == "text" || format == "auto" && ok && term.IsTerminal(int(file.Fd())) {
		form = slog.NewTextHandler(to, o)
	}
	log := slog.New(form)
	Redirect(log)
	return log
}

// readable makes durations text in all formats, for example 1.5s: in JSON they were nanoseconds. Errors are on one line.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	} else if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(Text(err))
	}
	return a
}

// ServerLog returns a logger for http.Server.ErrorLog: package net/http reports faults of connections, which clients and
// origins cause, as text. At most 10 per second are logged, 100 at once. If handshakes is not nil, it counts failed TLS handshakes.
func ServerLog(to *slog.Logger, handshakes *atomic.Uint64) *log.Logger {
	if handshakes == nil {
		handshakes = new(atomic.Uint64)
	}
	return log.New(httpFaults{faultlog.Clients(), to, handshakes}, "", 0)
}

// Redirect makes the standard logger write to a log. Transports and HTTP/2 of net/http use it.
func Redirect(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(httpFaults{faultlog.Clients(), to, new(atomic.Uint64)})
}

// httpFaults logs lines of net/http, which has no other form of them.
type httpFaults struct {
	limit      *faultlog.Limit
	log        *slog.Logger
	handshakes *atomic.Uint64
}

// Write logs one line. Like package resp, it ignores connections that end before the handshake begins.
func (f httpFaults) Write(line []byte) (int, error) {
	text := strings.TrimPrefix(strings.TrimSpace(string(line)), "http: ")
	handshake, ok := strings.CutPrefix(text, "TLS handshake error from ")
	client, cause, _ := strings.Cut(handshake, ": ")
	switch {
	case !ok:
		f.limit.Logger(f.log).Warn("fault of an HTTP connection", event.HTTPError, "error", text)
	case cause == "EOF" || strings.HasSuffix(cause, "connection reset by peer"):
	default:
		f.handshakes.Add(1)
		f.limit.Logger(f.log).Warn("tls handshake failed", event.TLSFailed, "client", client, "error", cause)
	}
	return len(line), nil
}
