// Package httpapi serves an engine's filters over HTTP: as JSON, as lines of JSON, as digests, and as
// containers. openapi.json, which it serves, describes the routes; docs/node-http.md is for people.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// Options say what the handler serves.
type Options struct {
	Engine   *engine.Engine
	Wait     func(ctx context.Context, pos engine.Position) error // nil: nothing is waited for
	Users    *access.Users                                        // nil: everyone may do all
	Audit    access.Audit
	Hasher   umbel.Hasher  // of new filters
	MaxBody  int64         // bytes of one request that isn't streamed; 0: 8 MiB
	MaxBytes uint64        // memory of a filter that comes in as a container; 0: 1 GiB
	Idle     time.Duration // how long a client may neither send nor take what is its turn; 0: a minute
	Dir      string        // for copies of large filters while they are sent; "": that of the system
	Hosts    []string      // names it may be asked by, besides addresses and localhost; nil: any
	Ready    func() error  // for /readyz
	Metrics  http.Handler  // for /metrics, nil: none
	Backup   func(ctx context.Context, w io.Writer) error
	Snapshot func(ctx context.Context) error
	Profile  bool   // serve /debug/pprof to administrators
	Rates    *Rates // requests of each client; nil: no limit
	// Observe is told of each request that was answered: its route's pattern, "" if there was none,
	// the status, and how long it took. nil: nobody is.
	Observe func(pattern string, status int, took time.Duration)
	Log     *slog.Logger
}

const (
	defaultBody = 8 << 20
	defaultIdle = time.Minute
)

// handler answers requests.
type handler struct {
	Options
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
	copies *copies

	everyone *access.User // who asks where there are no users
}

// New returns the handler of all routes. It sets the deadlines of connections itself: its
// server needs ReadHeaderTimeout, IdleTimeout and MaxHeaderBytes, and no ReadTimeout or
// WriteTimeout, which would cut streams.
func New(o Options) http.Handler {
	if o.MaxBody == 0 {
		o.MaxBody = defaultBody
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = wire.DefaultBytes
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Rates == nil {
		o.Rates = NewRates(0)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{
		Options: o,
		mux:     http.NewServeMux(),
		origin:  http.NewCrossOriginProtection(),
		copies:  newCopies(o.Dir),

		everyone: access.Everyone(),
	}
	for _, r := range h.routes() {
		h.mux.Handle(r.pattern, h.through(r))
	}
	return h
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	a := newAnswer(w, h.Idle)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = newBody(r.Body, a)
	}
	pattern := ""
	defer func() {
		a.moreToWrite() // for what the server sends behind the answer
		took := time.Since(began)
		if h.Observe != nil {
			h.Observe(pattern, a.status(), took)
		}
		h.Log.Debug("http", "method", r.Method, "path", r.URL.EscapedPath(), "status", a.status(), "bytes", a.bytes, "took", took, "from", r.RemoteAddr)
	}()
	if err := h.admit(r); err != nil {
		writeProblem(a, r, err)
		return
	}
	var inner http.Handler
	inner, pattern = h.mux.Handler(r)
	if pattern == "" {
		h.noRoute(inner, a, r)
		return
	}
	h.mux.ServeHTTP(a, r)
}

// noRoute answers where no route is: what the mux would say, as a problem.
func (h *handler) noRoute(inner http.Handler, w http.ResponseWriter, r *http.Request) {
	said := &header{h: http.Header{}}
	inner.ServeHTTP(said, r)
	if said.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", said.h.Get("Allow"))
		writeProblem(w, r, problemf(methodNotAllowed, "%s isn't among the methods of %s: %s", r.Method, r.URL.Path, said.h.Get("Allow")))
		return
	}
	writeProblem(w, r, problemf(noPath, "%s is no path of this server: /openapi.json lists those there are", r.URL.Path))
}

// header is a response of which only the head is of interest.
type header struct {
	h      http.Header
	status int
}

func (h *header) Header() http.Header         { return h.h }
func (h *header) WriteHeader(status int)      { h.status = status }
func (h *header) Write(b []byte) (int, error) { return len(b), nil }
