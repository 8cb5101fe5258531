package siblings_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

// Two services have a cache each. What one of them has fetched, the other one gets from it instead of from the origin.
func Example() {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, "a page")
	}))
	defer origin.Close()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	// Each service listens for its siblings, and has the address and the key of each.
	type service struct {
		key    share.Key
		server *httptest.Server
		mesh   *siblings.Mesh
		cache  *memoryCache
	}
	north, south := &service{}, &service{}
	for _, s := range []*service{north, south} {
		s.key, _, _ = share.NewKey("example.org/cache")
		s.server = httptest.NewUnstartedServer(nil)
	}
	start := func(s, other *service) {
		address, _ := url.Parse("http://" + s.server.Listener.Addr().String())
		peer, _ := url.Parse("http://" + other.server.Listener.Addr().String())
		s.mesh, _ = siblings.New(ctx, siblings.Options{
			Key: s.key, Token: "a secret of all services", Cache: address,
			Host:   "www.example.org",
			Peers:  []siblings.PeerOptions{{Name: "other", URL: peer, Verifier: other.key.Verifier}},
			Period: 100 * time.Millisecond, Patience: time.Minute, // for machines that are busy with tests
		})
		s.cache = &memoryCache{next: s.mesh.Transport(http.DefaultTransport), origin: origin.URL}
		mux := http.NewServeMux()
		mux.Handle(siblings.Path+"/", s.mesh.Publication())
		mux.Handle("/", s.cache)
		s.server.Config.Handler = mux
		s.server.Start()
		running.Go(func() { s.mesh.Run(ctx) })
	}
	start(north, south)
	start(south, north)
	defer north.server.Close()
	defer south.server.Close()

	fetch := func(s *service) {
		res, err := http.Get(s.server.URL + "/page")
		if err != nil {
			fmt.Println(err)
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		status, _, _ := strings.Cut(res.Header.Get("Cache-Status"), "; ttl=") // the remaining seconds
		fmt.Printf("%s: %s\n", body, status)
	}
	fetch(north)
	r, _ := http.NewRequest(http.MethodGet, origin.URL+"/page", nil)
	for len(south.mesh.Holds(r)) == 0 { // until it is published
		time.Sleep(10 * time.Millisecond)
	}
	fetch(south)
	// Output:
	// a page: "example.org/cache"; fwd=uri-miss
	// a page: "example.org/cache"; hit
}

// memoryCache is a cache for the example: it keeps what it fetches for ever.
type memoryCache struct {
	next   http.RoundTripper
	origin string
	stored sync.Map // URI to *httptest.ResponseRecorder
}

// ServeHTTP answers from the cache, or from what is below it.
func (c *memoryCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if x, ok := c.stored.Load(r.RequestURI); ok {
		res := x.(*httptest.ResponseRecorder)
		for name, values := range res.Header() {
			w.Header()[name] = values
		}
		w.Write(res.Body.Bytes())
		return
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, c.origin+r.RequestURI, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out.Header = r.Header.Clone()
	res, err := c.next.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	rec := httptest.NewRecorder()
	for name, values := range res.Header {
		rec.Header()[name], w.Header()[name] = values, values
	}
	w.WriteHeader(res.StatusCode)
	if _, err := io.Copy(io.MultiWriter(w, rec), res.Body); err == nil && res.StatusCode == http.StatusOK {
		c.stored.Store(r.RequestURI, rec)
	}
}
