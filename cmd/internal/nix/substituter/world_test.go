package substituter_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hash returns the hash of test path i.
func hash(i int) nixbloom.Hash { return sha1.Sum(fmt.Append(nil, "path ", i)) }

func narinfoOf(i int) string {
	return fmt.Sprintf("StorePath: /nix/store/%s-p%d\nURL: nar/%d.nar.xz\nSig: x:y\n", hash(i), i, i)
}

func narOf(i int) string { return strings.Repeat(fmt.Sprintf("nar %d ", i), 1000) }

// cache is a binary cache in memory.
type cache struct {
	mu     sync.Mutex // held while it replies, and by set
	paths  map[int]bool
	bloom  []byte // the file NixBloom, nil for none
	tag    string
	down   bool                                              // no connection
	status int                                               // of all replies, 0 for the usual one
	lie    func(w http.ResponseWriter, r *http.Request) bool // replies to some requests
	log    []string                                          // paths that were requested
}

func newCache(from, to int) *cache {
	c := &cache{paths: map[int]bool{}}
	for i := from; i < to; i++ {
		c.paths[i] = true
	}
	return c
}

func (c *cache) hasBloom(tag string) *cache {
	var list strings.Builder
	for i := range c.paths {
		fmt.Fprintln(&list, hash(i))
	}
	paths, err := nixcache.ReadList(strings.NewReader(list.String()))
	if err != nil {
		panic(err)
	}
	f, err := paths.NixBloom(1e-6)
	if err != nil {
		panic(err)
	}
	c.bloom, _ = f.AppendFile(nil)
	c.tag = tag
	return c
}

// set changes the cache while a server may request it.
func (c *cache) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, r.URL.Path)
	if c.lie != nil && c.lie(w, r) {
		return
	}
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	switch path := r.URL.Path; {
	case path == "/nix-cache-info":
		fmt.Fprintln(w, "StoreDir: /nix/store")
		if c.bloom != nil {
			fmt.Fprintln(w, "BloomFilter: /bloom-filter")
		}
		return
	case path == "/bloom-filter" && c.bloom != nil:
		w.Header().Set("Etag", c.tag)
		if r.Header.Get("If-None-Match") == c.tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(c.bloom)
		return
	}
	for i := range c.paths {
		switch r.URL.Path {
		case "/" + hash(i).String() + ".narinfo":
			fmt.Fprint(w, narinfoOf(i))
			return
		case fmt.Sprintf("/nar/%d.nar.xz", i):
			http.ServeContent(w, r, "", zero, strings.NewReader(narOf(i)))
			return
		}
	}
	http.NotFound(w, r)
}

// requests returns the number of requests for files with a suffix since the last call.
func (c *cache) requests(suffix string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range c.log {
		if strings.HasSuffix(path, suffix) {
			n++
		}
	}
	c.log = nil
	return n
}

// network is a transport to the caches of a test, by host. It has no sockets, so that tests can have a clock of their
// own. A cache that is down gives no reply until the request ends.
type network map[string]http.Handler

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	h := n[r.URL.Host]
	if c, ok := h.(*cache); ok && c.down {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func address(host string) *url.URL { return &url.URL{Scheme: "http", Host: host} }

// server returns a substituter of the upstreams.
func server(t testing.TB, n network, upstreams ...substituter.Upstream) *substituter.Server {
	t.Helper()
	s, err := substituter.New(substituter.Options{Upstreams: upstreams, Transport: n})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get returns the reply to a request.
func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func narinfo(i int) string { return "/" + hash(i).String() + ".narinfo" }

// wantStatus fails unless the narinfo of path i has a status, and is right.
func wantStatus(t testing.TB, h http.Handler, i, status int) {
	t.Helper()
	w := get(h, narinfo(i))
	if w.Code != status || status == http.StatusOK && w.Body.String() != narinfoOf(i) {
		t.Errorf("path %d: status %d, want %d; body %.200q", i, w.Code, status, w.Body)
	}
}

// fixed is a summary with one answer.
type fixed substituter.Answer

func (f fixed) Has(substituter.Path) substituter.Answer { return substituter.Answer(f) }
func (f fixed) Run(ctx context.Context)                 { <-ctx.Done() }
func (f fixed) Status() substituter.SummaryStatus       { return substituter.SummaryStatus{Kind: "fixed"} }
