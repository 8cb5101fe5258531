package cacheserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/httpcache"
	"github.com/umbel-filters/umbel/internal/httptarget"
	"github.com/umbel-filters/umbel/siblings"
)

// Siblings configures what the cache exchanges with other caches. The server sets Reported of the options, and Cache to the
// address of the cache if it is nil.
type Siblings struct {
	siblings.Options
	Publish string // host:port of the publication; empty: that of the cache
}

// member is the cache as one of several siblings.
type member struct {
	*siblings.Mesh
	host    string // of keys, requests to siblings and to the origin; empty: that of each request
	publish net.Listener
	stop    context.CancelFunc
	running sync.WaitGroup
}

// join makes the cache with these options a sibling: misses go through the mesh to the upstream, and the mesh publishes what
// the cache stores. Run must be called.
func (s *Server) join(c Siblings, o *httpcache.Options) (err error) {
	if c.Cache == nil {
		a, ok := s.main.Addr().(*net.TCPAddr)
		if !ok || a.IP.IsUnspecified() {
			return errors.New("--cache-url: give the address of the cache, as siblings reach it")
		}
		c.Cache = &url.URL{Scheme: s.scheme(), Host: a.String()}
	}
	c.Reported = true
	m := &member{host: c.Host}
	if m.Mesh, err = siblings.New(context.Background(), c.Options); err != nil {
		return err
	}
	if c.Publish != "" {
		if m.publish, err = service.Listen("publish-listen", c.Publish); err != nil {
			return err
		}
	}
	if m.host != "" {
		if o.Upstream == nil {
			o.Upstream = httpcache.NewTransport(nil)
		}
		o.Upstream = withHost{o.Upstream, m.host}
	}
	o.Siblings, o.Observer = m.Transport, m
	o.Reported = func(err error) bool { return errors.Is(err, siblings.ErrSibling) }
	s.member = m
	return nil
}

// withHost sends requests with the host of the site instead of that of the origin.
type withHost struct {
	next http.RoundTripper
	host string
}

func (t withHost) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(r.Context())
	r.Host = t.host
	return t.next.RoundTrip(r)
}

// Changed passes on what the cache stores.
func (m *member) Changed(key string, before, after []httpcache.Response) {
	u, err := httptarget.Parse(key)
	if err != nil {
		return // it was made from a URL
	}
	m.Mesh.Changed(u, responses(before), responses(after))
}

func responses(list []httpcache.Response) []siblings.Response {
	converted := make([]siblings.Response, len(list))
	for i, r := range list {
		converted[i] = siblings.Response(r)
	}
	return converted
}

// run publishes and follows siblings until leave.
func (m *member) run(fail func(error)) {
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.running.Go(func() {
		if err := m.Run(ctx); ctx.Err() == nil {
			fail(err)
		}
	})
}

// leave ends what run began. Siblings that wait for a version of the publication get an answer.
func (m *member) leave() {
	m.stop()
	m.running.Wait()
}

// handler returns what clients and siblings connect to.
func (m *member) handler(cache *httpcache.Cache, origin *url.URL) http.Handler {
	store, publication := m.Cache(cache), m.Publication()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch own := r.URL.Host == ""; {
		case own && m.publish == nil && m.OwnPath(r.URL.Path):
			publication.ServeHTTP(w, r)
		case own && r.Header[siblings.HopHeader] == nil:
			cache.ServeHTTP(w, r)
		case origin == nil:
			store.ServeHTTP(w, proxied(r))
		case !m.serves(origin, r.Host):
			// A sibling takes this cache for one of another site, by a false positive.
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "this cache has responses of another host", http.StatusGatewayTimeout)
		default:
			store.ServeHTTP(w, r)
		}
	})
}

// serves reports whether the cache of an origin has responses for a host.
func (m *member) serves(origin *url.URL, host string) bool {
	own := m.host
	if own == "" {
		own = origin.Host
	}
	root := &url.URL{Scheme: origin.Scheme, Path: "/"}
	return siblings.KeyOf(root, host) == siblings.KeyOf(root, own)
}

// proxied returns the request of a sibling as a client of a forward proxy sends it.
func proxied(r *http.Request) *http.Request {
	if r.URL.Host != "" {
		return r
	}
	u := *r.URL
	u.Scheme, u.Host = "http", r.Host
	r = r.WithContext(r.Context())
	r.URL = &u
	return r
}
