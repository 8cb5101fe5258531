// Package httpapi serves the filters of an engine over HTTP. Keys are sent as JSON, lines or digests,
// filters as containers. openapi.json, which is served too, describes the routes; docs/node-http.md is
// the guide for users.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/outgoing"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// Options configure the handler.
type Options struct {
	Engine   *engine.Engine
	Wait     func(ctx context.Context, pos engine.Position) error // nil: changes are acknowledged at once
	Room     func(ctx context.Context) error                      // waits until the journal has room; nil: it always has
	Users    *access.Users                                        // nil: everyone has all rights
	Audit    *access.Audit                                        // nil: nothing is recorded
	Hasher   umbel.Hasher                                         // default for new filters
	MaxBody  int64                                                // bytes of a request that is not a stream; 0: 8 MiB
	Idle     time.Duration                                        // time in which a client must send or take the next piece; 0: one minute
	Dir      disk.Dir                                             // for copies of large filters while they are sent; nil: the system's directory
	Hosts    Hosts                                                // allowed in the Host header
	Ready    func() error                                         // for /readyz: whether queries are answered
	Writable func() error                                         // for /writable: whether changes are accepted
	Status   func() api.Status
	Slots    *slots.Place // which filters are here; nil: all
	Metrics  http.Handler // for /metrics; nil: not enabled
	Backup   func(ctx context.Context, w io.Writer) error
	Snapshot func(ctx context.Context) error // logs its error
	// Publications are those of the server; nil: none.
	Publications *publish.Set
	// Subscriptions are the publications that a replica follows; nil: the server is none.
	Subscriptions *replica.Set
	// Leader returns the URL of the leader of the node's group, "" if it is unknown; TakeOver makes the node lead, and Leave makes it follow. nil: the
	// node is in no group.
	Leader          func() string
	TakeOver, Leave func() error
	Profile         bool           // serve /debug/pprof to administrators
	Rates           *Rates         // requests per client; nil: no limit
	Budget          *budget.Budget // memory of bodies and answers; nil: no limit
	Disk            *budget.Budget // bytes of the files in Dir; nil: no limit
	// Serving is done when the server shuts down: open streams of keys then end with a problem. It
	// may be nil.
	Serving context.Context
	// Observe is called for each request that was answered, with the pattern of its route ("" if
	// none matched), the status and the duration. It may be nil.
	Observe func(pattern string, status int, took time.Duration)
	Log     *slog.Logger
}

const (
	defaultBody = 8 << 20
	defaultIdle = time.Minute
)

// handler serves requests.
type handler struct {
	Options
	mux    *http.ServeMux
	guard  guard
	export *outgoing.Service

	everyone *access.User // the user of all requests if Options.Users is nil
}

// New returns the handler of all routes. It sets the deadlines of connections itself. The
// http.Server needs ReadHeaderTimeout, IdleTimeout and MaxHeaderBytes; it must have no
// ReadTimeout and no WriteTimeout, because they would end streams.
func New(o Options) http.Handler {
	if o.MaxBody == 0 {
		o.MaxBody = defaultBody
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Rates == nil {
		o.Rates = NewRates(0)
	}
	if o.Serving == nil {
		o.Serving = context.Background()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dir == nil {
		o.Dir = disk.OS(os.TempDir())
	}
	h := &handler{
		Options: o,
		mux:     http.NewServeMux(),
		guard:   newGuard(o.Hosts),
		export:  outgoing.New(o.Dir, o.Disk),

		everyone: access.Everyone(),
	}
	for _, r := range h.routes() {
		h.mux.Handle(r.pattern, h.serveRoute(r))
		if r.list {
			h.mux.Handle(r.pattern+"/{$}", h.serveRoute(r))
		}
	}
	return h
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	m := &match{response: newResponse(w, h.Idle), request: r}
	a := &m.response
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = newTimedBody(r.Body, a)
	}
	defer func() {
		a.extendWriteDeadline() // for what the server sends after the handler
		took := time.Since(began)
		if h.Observe != nil {
			h.Observe(r.Pattern, a.status(), took)
		}
		h.Log.Debug("http", "method", r.Method, "path", r.URL.EscapedPath(), "status", a.status(), "bytes", a.bytes, "took", took, "client", r.RemoteAddr)
	}()
	if err := h.guard.check(r); err != nil {
		writeProblem(a, r, err)
		return
	}
	h.mux.ServeHTTP(m, r)
}

// match is the response to a request for which the mux is looking for a route. If there is none, a problem takes the place of what
// the mux writes.
type match struct {
	response
	request *http.Request // has a pattern if there is a route
}

// WriteHeader writes the problem if there is no route. The mux sets the header Allow if there are routes for other methods.
func (m *match) WriteHeader(code int) {
	r := m.request
	switch {
	case r.Pattern != "":
		m.response.WriteHeader(code)
	case code == http.StatusMethodNotAllowed:
		writeProblem(&m.response, r, problemf(methodNotAllowed, "%s is not allowed for %s; allowed: %s", r.Method, r.URL.Path, m.Header().Get("Allow")))
	default:
		writeProblem(&m.response, r, problemf(noPath, "no path %s; /openapi.json lists all paths", r.URL.Path))
	}
}

// Write leaves out the text of the mux if there is no route.
func (m *match) Write(b []byte) (int, error) {
	if m.request.Pattern == "" {
		return len(b), nil
	}
	return m.response.Write(b)
}

// Loading returns a handler for the time before the filters are restored: /healthz succeeds, and
// everything else is the problem not-ready with the progress as detail.
func Loading(progress func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next request is for the node
		if r.URL.Path == "/healthz" {
			a := newResponse(w, 10*time.Second)
			_ = writeJSON(&a, http.StatusOK, status{"alive"})
			return
		}
		writeProblem(w, r, problemf(notReady, "%s", progress()))
	})
}
