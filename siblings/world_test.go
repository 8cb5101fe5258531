package siblings_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

const token = "a token of 16 bytes at least"

// world is a network in memory: handlers by host, and an origin.
type world struct {
	mu    sync.Mutex
	hosts map[string]http.Handler
	delay map[string]time.Duration // of each answer; negative: there is none

	origin   http.Handler
	requests map[string]int // that reached the origin, by path
}

func newWorld() *world {
	w := &world{hosts: map[string]http.Handler{}, delay: map[string]time.Duration{}, requests: map[string]int{}}
	w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "max-age=100")
		fmt.Fprint(rw, "origin "+r.URL.Path)
	})
	w.hosts["origin"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests[r.URL.Path]++
		w.mu.Unlock()
		rw.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
		w.origin.ServeHTTP(rw, r)
	})
	return w
}

// RoundTrip lets the handler of the host answer.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	h, delay := w.hosts[r.URL.Host], w.delay[r.URL.Host]
	w.mu.Unlock()
	if h == nil {
		return nil, errors.New("connection refused")
	}
	if delay != 0 {
		var passed <-chan time.Time
		if delay > 0 {
			passed = time.After(delay)
		}
		select {
		case <-passed:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	rec := httptest.NewRecorder()
	done := make(chan struct{})
	go func() { defer close(done); h.ServeHTTP(rec, in) }()
	select {
	case <-done:
		res := rec.Result()
		res.Request = r
		return res, nil
	case <-r.Context().Done():
		<-done
		return nil, r.Context().Err()
	}
}

func (w *world) set(host string, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay[host] = delay
}

// originRequests returns how often a path was requested from the origin.
func (w *world) originRequests(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests[path]
}

// cache is a small HTTP cache: enough to be the one in front of a sidecar.
type cache struct {
	name  string
	next  http.RoundTripper
	plain bool // like nginx: neither obeys nor sends Age, and writes a new Date
	obeys bool // only-if-cached

	mu     sync.Mutex
	stored map[string]*storedResponse
}

type storedResponse struct {
	header  http.Header
	body    []byte
	at      time.Time
	age     time.Duration
	life    time.Duration
	vary    []string
	request http.Header
}

func (c *cache) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	now := time.Now()
	c.mu.Lock()
	s := c.stored[r.URL.Path]
	c.mu.Unlock()
	conditional := r.Header.Get("If-None-Match") != ""
	if s != nil && s.matches(r.Header) && now.Sub(s.at)+s.age < s.life && r.Header.Get("Cache-Control") != "no-cache" && !conditional {
		for name, values := range s.header {
			rw.Header()[name] = values
		}
		if c.plain {
			rw.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		} else {
			rw.Header().Set("Age", fmt.Sprint(int((now.Sub(s.at) + s.age).Seconds())))
		}
		rw.Header().Set("X-Cache", "HIT")
		rw.Write(s.body)
		return
	}
	if c.obeys && r.Header.Get("Cache-Control") == "only-if-cached" {
		rw.WriteHeader(http.StatusGatewayTimeout)
		return
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.RequestURI = "http", "origin", ""
	res, err := c.next.RoundTrip(out)
	if err != nil {
		rw.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	for name, values := range res.Header {
		rw.Header()[name] = values
	}
	rw.WriteHeader(res.StatusCode)
	rw.Write(body)
	c.store(r, res, body, err)
}

// store keeps a response, as the headers permit.
func (c *cache) store(r *http.Request, res *http.Response, body []byte, err error) {
	control := res.Header.Get("Cache-Control")
	if err != nil || r.Method != http.MethodGet || strings.Contains(control, "no-store") || strings.Contains(control, "private") {
		return
	}
	var life, age int
	if _, err := fmt.Sscanf(control[max(strings.Index(control, "max-age="), 0):], "max-age=%d", &life); err != nil || life == 0 {
		return
	}
	fmt.Sscan(res.Header.Get("Age"), &age)
	if c.plain {
		age = 0
		if n, err := fmt.Sscan(res.Header.Get("X-Accel-Expires"), &life); n == 1 && err == nil && life == 0 {
			return
		}
	}
	s := &storedResponse{
		header: res.Header.Clone(), body: body, at: time.Now(), age: time.Duration(age) * time.Second,
		life: time.Duration(life) * time.Second, request: r.Header.Clone(),
	}
	if v := res.Header.Get("Vary"); v != "" {
		s.vary = strings.Split(v, ", ")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored[r.URL.Path] = s
}

func (s *storedResponse) matches(h http.Header) bool {
	for _, name := range s.vary {
		if h.Get(name) != s.request.Get(name) {
			return false
		}
	}
	return true
}

// evict removes a response without a notice to anybody.
func (c *cache) evict(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stored, path)
}

func (c *cache) holds(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stored[path] != nil
}

// fresh reports whether the cache would answer without a request to the mesh.
func (c *cache) fresh(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stored[path]
	return s != nil && time.Since(s.at)+s.age < s.life
}

// node is a cache with a mesh behind it.
type node struct {
	*siblings.Mesh
	cache *cache
	world *world
}

// nodes makes nodes that are siblings of each other, and runs them until the test ends.
func nodes(t *testing.T, w *world, names []string, change func(name string, o *siblings.Options)) []*node {
	t.Helper()
	keys := map[string]share.Key{}
	for _, name := range names {
		k, _, err := share.NewKey("example.org/" + name)
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = k
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var list []*node
	for _, name := range names {
		o := siblings.Options{
			Key: keys[name], Token: token, Cache: address("http://cache-" + name), Host: "www.example.org", HTTP: w,
		}
		for _, other := range names {
			if other != name {
				o.Peers = append(o.Peers, siblings.PeerOptions{Name: other, URL: address("http://sidecar-" + other), Verifier: keys[other].Verifier})
			}
		}
		if change != nil {
			change(name, &o)
		}
		m, err := siblings.New(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		c := &cache{name: name, next: m.Transport(w), stored: map[string]*storedResponse{}}
		w.mu.Lock()
		w.hosts["cache-"+name], w.hosts["sidecar-"+name] = c, m.Publication()
		w.mu.Unlock()
		list = append(list, &node{m, c, w})
		running.Go(func() { m.Run(ctx) })
	}
	t.Cleanup(func() { stop(); running.Wait() })
	return list
}

func address(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// get requests a path from the cache of a node.
func (n *node) get(t *testing.T, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://cache-"+n.cache.name+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := n.world.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res
}

// settle waits until what was stored is known to the siblings.
func settle() {
	time.Sleep(2500 * time.Millisecond)
	synctest.Wait()
}

// names returns n names.
func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("n%d", i))
	}
	return list
}
