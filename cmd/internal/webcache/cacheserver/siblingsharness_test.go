package cacheserver

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

// startSiblings starts n caches that are siblings of each other.
func startSiblings(t *testing.T, n int, change func(*Config)) []*Server {
	t.Helper()
	keys, addresses := make([]share.Key, n), make([]string, n)
	free := make([]net.Listener, n) // each keeps its address until a cache starts there
	for i := range n {
		var err error
		if keys[i], _, err = share.NewKey(fmt.Sprint("example.org/", i)); err != nil {
			t.Fatal(err)
		}
		if free[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		addresses[i] = free[i].Addr().String()
	}
	var list []*Server
	for i := range n {
		c := testConfig(nil)
		transport := &http.Transport{DisableCompression: true}
		t.Cleanup(transport.CloseIdleConnections)
		c.Listen = addresses[i]
		c.Siblings = &Siblings{Options: siblings.Options{
			Key: keys[i], Token: "0123456789abcdef", Period: 100 * time.Millisecond, Patience: time.Minute, HTTP: transport,
			Log: slog.New(slog.DiscardHandler),
		}}
		for j := range n {
			if j != i {
				c.Siblings.Peers = append(c.Siblings.Peers, siblings.PeerOptions{
					Name: fmt.Sprint(j), URL: &url.URL{Scheme: "http", Host: addresses[j]}, Verifier: keys[j].Verifier,
				})
			}
		}
		change(&c)
		free[i].Close()
		list = append(list, start(t, c))
	}
	return list
}

// counted is an origin that counts requests.
type counted struct {
	mu       sync.Mutex
	requests int
	control  string
	vary     string
}

func (o *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests++
	w.Header().Set("Cache-Control", o.control)
	if o.vary != "" {
		w.Header().Set("Vary", o.vary)
	}
	if r.URL.Path == "/cookie" {
		w.Header().Set("Set-Cookie", "a=b")
	}
	w.Header().Set("ETag", `"1"`)
	if r.Header.Get("If-None-Match") != "" {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprint(w, r.URL.Path, " ", r.Header.Get(o.vary), " ", r.Host, strings.Repeat(" ", 10_000))
}

// set changes the Cache-Control of the following responses.
func (o *counted) set(control string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.control = control
}

func (o *counted) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests
}

// request sends a GET request to a cache with fields "name: value", through it if it is a forward proxy.
func request(t *testing.T, s *Server, at string, fields ...string) (*http.Response, string) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	if s.config.Origin == nil {
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: s.Addr().String()})
	} else {
		u.Host = s.Addr().String()
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Set(name, value)
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, strings.TrimSpace(string(b))
}

// holders returns how many siblings of s may hold a URL.
func holders(t *testing.T, s *Server, at string, fields ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Set(name, value)
	}
	return len(s.member.Holds(r))
}
