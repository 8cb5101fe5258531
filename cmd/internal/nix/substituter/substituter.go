// Package substituter answers Nix clients for several binary caches, the upstreams. It has a summary of each: which
// store paths the upstream may have. A request for a path that no upstream has is answered from memory. Other
// requests go to those upstreams that may have the path, in their order.
//
// A path counts as absent from an upstream only while its summary is verified and current. An upstream without a
// summary, or with one that is out of date, is requested for every path: a wrong "absent" would cost a build, a
// wrong "maybe" costs one request.
//
// Bodies pass through unchanged and are not kept. Nix verifies their signatures.
package substituter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/hop"
)

const (
	// DefaultTimeout is the default of Options.Timeout.
	DefaultTimeout = 5 * time.Second
	// DefaultStall is the default of Options.Stall.
	DefaultStall = 30 * time.Second
	// DefaultPriority is the default of Options.Priority. Clients request caches with a smaller number first;
	// that of cache.nixos.org is 40.
	DefaultPriority = 30
	// maxRequests is the number of requests to upstreams at the same time.
	maxRequests  = 1024
	maxRedirects = 5
)

// Upstream is a binary cache.
type Upstream struct {
	// URL is the base URL, http or https. Credentials in it are sent to this upstream only.
	URL *url.URL
	// Sibling is a cache that may disappear, for example a machine on the local network. While it is not
	// reachable it counts as one that has no path. A path that an upstream of another kind may have and that
	// is not reachable is answered with status 503, so that Nix does not take it for absent.
	Sibling bool
	// Summary is nil if there is none.
	Summary Summary
}

// Options configure a Server. Upstreams is required.
type Options struct {
	Upstreams []Upstream // in the order in which they are requested
	// Transport makes the requests to upstreams; nil means NewTransport(Timeout).
	Transport http.RoundTripper
	// Timeout bounds the time until an upstream has sent a narinfo, or the header of a NAR.
	Timeout time.Duration
	// Stall ends a transfer in which no byte is sent or received for this time.
	Stall    time.Duration
	Priority int
	Log      *slog.Logger // nil: none
}

// Server is an http.Handler for Nix clients. It replies to GET and HEAD of
//
//	/nix-cache-info    its description
//	/HASH.narinfo      the narinfo of a store path, from the first upstream that has it
//	/nar/…             a NAR, from the upstream whose narinfo named it, or the first that has it
//	/status            counters, as text, or as JSON with ?format=json
//
// It is safe for concurrent use.
type Server struct {
	o         Options
	id        string // in Via, against loops
	upstreams []*upstream
	places    places
	room      chan struct{} // one element per request to upstreams
	began     time.Time
	counters  counters
	info      []byte
	page      http.Handler // of the status
}

// counters count the requests for narinfos and NARs.
type counters struct {
	absent, found, missing, unreachable, nars, narBytes atomic.Uint64
}

// New returns a server. It returns an error if there is no upstream, or if a URL is not one of a cache.
func New(o Options) (*Server, error) {
	if len(o.Upstreams) == 0 {
		return nil, errors.New("no upstream is given")
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Stall <= 0 {
		o.Stall = DefaultStall
	}
	if o.Priority == 0 {
		o.Priority = DefaultPriority
	}
	if o.Transport == nil {
		o.Transport = NewTransport(o.Timeout)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	page := http.NewServeMux()
	s := &Server{o: o, page: page, id: "umbel-" + rand.Text()[:12], room: make(chan struct{}, maxRequests), began: time.Now()}
	s.info = fmt.Appendf(nil, "StoreDir: %s\nWantMassQuery: 1\nPriority: %d\n", nixcache.StoreDir, o.Priority)
	status.Handle(page, func() status.Report { return s.Status() })
	client := NewClient(hop.Transport(o.Transport))
	for _, u := range o.Upstreams {
		if err := CheckURL(u.URL); err != nil {
			return nil, err
		}
		s.upstreams = append(s.upstreams, &upstream{Upstream: u, client: client, timeout: o.Timeout, log: o.Log,
			via: "1.1 " + s.id, wrong: faultlog.NewLimit(time.Minute, 1)})
	}
	return s, nil
}

// CheckURL returns an error unless u is the URL of a cache: http or https, with a host and without query.
func CheckURL(u *url.URL) error {
	if u == nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%v is not the URL of a binary cache; want http:// or https://, a host, and no query", u)
	}
	return nil
}

// NewTransport returns a transport that waits for a reply for at most the given time. It requests no compression,
// so that bodies pass through unchanged.
func NewTransport(timeout time.Duration) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.ResponseHeaderTimeout = timeout
	t.TLSHandshakeTimeout = timeout
	t.MaxIdleConnsPerHost = 16
	t.MaxResponseHeaderBytes = 64 << 10
	return hop.Prepare(t)
}

// NewClient returns a client for requests to upstreams. It follows at most five redirects.
func NewClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil
	}}
}

// Run keeps the summaries current until ctx ends.
func (s *Server) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, u := range s.upstreams {
		if u.Summary != nil {
			running.Go(func() { u.Summary.Run(ctx) })
		}
	}
	running.Wait()
	s.closeIdle()
}

// closeIdle closes connections to upstreams that no request uses.
func (s *Server) closeIdle() {
	if t, ok := s.o.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// HTTP returns the HTTP server for clients, with limits for slow ones: requests have no bodies, and a NAR extends the time for its answer.
func (s *Server) HTTP() *http.Server {
	server := service.NewServer(s, s.o.Log)
	server.ReadTimeout, server.WriteTimeout, server.MaxHeaderBytes = server.ReadHeaderTimeout, s.o.Stall, 16<<10
	return server
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	if r.ContentLength != 0 { // nothing would read the body, or notice that it is malformed
		refuse(w, http.StatusBadRequest)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case strings.HasSuffix(path, narinfoSuffix):
		s.narinfo(w, r, path)
	case strings.HasPrefix(path, narPrefix):
		s.nar(w, r, path)
	case path == nixcache.InfoName:
		w.Header().Set("Content-Type", "text/x-nix-cache-info")
		w.Write(s.info)
	case path == "status", path == "status.json", path == "metrics":
		s.page.ServeHTTP(w, r)
	default:
		refuse(w, http.StatusNotFound)
	}
}

// enter reserves room for a request to upstreams, and replies with an error if there is none or if the request has
// come from this server.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) bool {
	for _, via := range r.Header.Values("Via") {
		if strings.Contains(via, s.id) {
			refuse(w, http.StatusLoopDetected)
			return false
		}
	}
	select {
	case s.room <- struct{}{}:
		return true
	default:
		refuse(w, http.StatusServiceUnavailable)
		return false
	}
}

func (s *Server) leave() { <-s.room }

// refuse replies with a status and its name.
func refuse(w http.ResponseWriter, status int) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, http.StatusText(status), status)
}
