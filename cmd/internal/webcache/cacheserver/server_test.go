package cacheserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"go.uber.org/goleak"
)

// testConfig is a cache on a free port.
func testConfig(origin *url.URL) Config {
	return Config{
		Listen: "127.0.0.1:0", Origin: origin, Memory: 64 << 20, DiskSize: 1 << 30, Disconnected: time.Minute, Name: "umbel",
		TunnelPorts: []string{"443"}, Log: slog.New(slog.DiscardHandler),
	}
}

// start starts a cache that ends with the test.
func start(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// originOf starts an origin that answers with its path for 100 s.
func originOf(t *testing.T, handle http.HandlerFunc) *url.URL {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// raw sends bytes to a cache and returns everything that comes back until the connection ends or is silent.
func raw(t *testing.T, s *Server, bytes string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, bytes); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(bytes, "Connection: close") { // a client that ends its half is taken for one that has gone
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // a server that refuses a request does not read the rest of it
		t.Fatal(err)
	}
	return string(b)
}

// A request in which another one could hide is refused, or its end is the same for the cache and the origin.
func TestSmuggling(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	u := originOf(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, r.Method+" "+r.URL.Path+" "+string(body))
		mu.Unlock()
		w.Header().Set("Cache-Control", "max-age=100")
	})
	s := start(t, testConfig(u))
	const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, request := range map[string]string{
		"two lengths":               "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 33\r\n\r\n" + hidden,
		"length that is no number":  "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n" + hidden,
		"unknown transfer encoding": "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n" + hidden,
		"two transfer encodings":    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + hidden,
		"no host":                   "GET /a HTTP/1.1\r\n\r\n",
		"two hosts":                 "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"space before the colon":    "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length : 33\r\n\r\n" + hidden,
		"line break in the target":  "GET /a\rb HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		if got := raw(t, s, request); !strings.HasPrefix(got, "HTTP/1.1 400") && !strings.HasPrefix(got, "HTTP/1.1 501") || strings.Count(got, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: got %q, want one 400", name, got)
		}
	}
	// With both, the chunks count, and the origin gets one of them.
	raw(t, s, "POST /both HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 1 || seen[0] != "POST /both x" {
		t.Errorf("the origin has received %q", seen)
	}
}

// A header above the limit is refused.
func TestLargeHeader(t *testing.T) {
	u := originOf(t, func(http.ResponseWriter, *http.Request) { t.Error("the origin has received the request") })
	s := start(t, testConfig(u))
	if got := raw(t, s, "GET /a HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 431") {
		t.Errorf("got %.100q, want 431", got)
	}
}

// Hits of all sizes arrive as they were, also many on one connection.
func TestBodies(t *testing.T) {
	u := originOf(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Cache-Control", "max-age=100")
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i % 251)
		}
		for len(b) > 0 { // a long one has no Content-Length
			part := b[:min(len(b), 1000)]
			_, _ = w.Write(part)
			b = b[len(part):]
		}
	})
	for _, onDisk := range []bool{false, true} {
		c := testConfig(u)
		if onDisk {
			c.Disk = t.TempDir()
		}
		s := start(t, c)
		client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
		defer client.CloseIdleConnections()
		for _, size := range []int{0, 1, 2000, 3900, 4096, 5000, 64 << 10, 64<<10 + 1, 3 << 20} {
			for range 3 {
				r, err := client.Get("http://" + s.Addr().String() + "/" + strconv.Itoa(size))
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r.Body)
				_ = r.Body.Close()
				if len(b) != size || err != nil {
					t.Fatalf("%d bytes, %v, want %d", len(b), err, size)
				}
				for i := range b {
					if b[i] != byte(i%251) {
						t.Fatalf("byte %d of %d is %d", i, size, b[i])
					}
				}
			}
		}
		// A request is counted after its answer, and the one after a miss can come before the response is stored.
		await.True(t, "all requests are counted", func() bool { r := s.Report(); return r.Hits+r.Collapsed+r.Misses >= 27 })
		if r := s.Report(); r.Hits < 9 || r.Hits+r.Collapsed != 18 || r.Misses != 9 {
			t.Errorf("%d hits, %d collapsed and %d misses", r.Hits, r.Collapsed, r.Misses)
		}
	}
}

// The status page has the counters as text, as JSON, and for Prometheus.
func TestStatus(t *testing.T) {
	c := testConfig(originOf(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Cache-Control", "max-age=100") }))
	c.Status = "127.0.0.1:0"
	s := start(t, c)
	page := func(a net.Addr, path string) string {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		r, err := client.Get("http://" + a.String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// A request that comes before the request of a miss has ended shares its response, and is no hit.
	await.True(t, "three requests are hits", func() bool { page(s.Addr(), "/a"); return s.Report().Hits == 3 })
	for path, want := range map[string]string{
		"/": `hits +3\n`, "/status.json": `"hits":3,`, "/metrics": `umbel_cache_requests_total\{result="hit"\} 3`,
	} {
		if got := page(s.statusAddr(), path); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
}

// While the origin can't be reached, the status has since when and why, and the gauge is 1.
func TestStatusWithoutOrigin(t *testing.T) {
	begin := time.Now().UTC()
	c := testConfig(originOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	s := start(t, c)
	get := func(path string) string {
		w := httptest.NewRecorder()
		s.statusPage().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Body.String()
	}
	if r := s.Report(); r.Outage != nil || !strings.Contains(get("/metrics"), "\numbel_cache_origin_unreachable 0\n") {
		t.Errorf("before the first request, the origin is unreachable: %+v", r.Outage)
	}
	s.Cache.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a", nil))
	o := s.Report().Outage
	if o == nil || o.Since.Before(begin) || o.Since.After(time.Now()) || o.Error == "" {
		t.Fatalf("the origin is unreachable: %+v", o)
	}
	for path, want := range map[string]string{
		"/": `origin +unreachable since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: .*; check --origin\n`, "/status.json": `"originUnreachable":\{"since":".*Z","error":".`, "/metrics": `umbel_cache_origin_unreachable 1\n`,
	} {
		if got := get(path); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
}

// Shutdown lets an answer end that is being sent.
func TestShutdown(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	u := originOf(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-goOn
		_, _ = w.Write([]byte("complete"))
	})
	s, err := Start(testConfig(u))
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan string, 1)
	go func() { answer <- raw(t, s, "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }()
	<-arrived
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(t.Context()) }()
	close(goOn)
	if got := <-answer; !strings.Contains(got, "complete") {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A forward proxy fetches URLs.
func TestForward(t *testing.T) {
	u := originOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		_, _ = io.WriteString(w, r.Host)
	})
	s := start(t, testConfig(nil))
	proxy, err := url.Parse("http://" + s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }, DisableKeepAlives: true}}
	for _, want := range []string{"fwd=uri-miss", "hit"} {
		await.True(t, "the response is stored", func() bool { return want != "hit" || s.Cache.Keys() == 1 })
		r, err := client.Get(u.String() + "/a")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if string(b) != u.Host || err != nil || !strings.Contains(r.Header.Get("Cache-Status"), want) {
			t.Errorf("got %q, %v, %v", b, err, r.Header)
		}
	}
	if got := raw(t, s, "GET /a HTTP/1.1\r\nHost: "+s.Addr().String()+"\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400") {
		t.Errorf("a request for the proxy itself: %q", got)
	}
}
