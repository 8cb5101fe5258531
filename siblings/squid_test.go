package siblings_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

// keyOf returns Squid's key of a URL.
func keyOf(url, mark string) umbel.Digest {
	return squid.Hasher.HashBytes(squid.AppendKey(nil, squid.MethodGet, url, mark))
}

// A node that permits it serves what it publishes as a cache digest, with the keys of variants and without what was evicted.
func TestSquidDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=100")
			if r.URL.Path == "/v" {
				rw.Header().Set("Vary", "Accept-Language, X-Absent")
			}
		})
		n := nodes(t, w, names(2), func(name string, o *siblings.Options) { o.SquidDigest = name == "n0" })
		digest := func(n *node, method string) (*http.Response, *squid.Filter) {
			rec := httptest.NewRecorder()
			n.Publication().ServeHTTP(rec, httptest.NewRequest(method, siblings.SquidDigestPath, nil))
			res := rec.Result()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != http.StatusOK {
				return res, nil
			}
			d, err := squid.Parse(b, squid.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := d.Filter()
			if err != nil {
				t.Fatal(err)
			}
			return res, f
		}
		for i := range 50 {
			n[0].get(t, fmt.Sprintf("/%d", i))
		}
		n[0].get(t, "/v", "Accept-Language", "de-CH, fr;q=0.5")
		res, f := digest(n[0], http.MethodGet)
		for i := range 50 {
			if !f.Has(keyOf(fmt.Sprintf("http://www.example.org/%d", i), "")) {
				t.Errorf("/%d is absent", i)
			}
		}
		mark := squid.VaryMark(squid.Field{Name: "Accept-Language", Value: "de-CH, fr;q=0.5"}, squid.Field{Name: "X-Absent", Absent: true})
		if !f.Has(keyOf("http://www.example.org/v", "")) || !f.Has(keyOf("http://www.example.org/v", mark)) {
			t.Error("the variant is absent")
		}
		if res.Header.Get("Content-Type") != "application/cache-digest" || res.Header.Get("Expires") == "" {
			t.Errorf("header %v", res.Header)
		}
		for i := range 40 {
			n[0].Removed(siblings.Key(fmt.Sprintf("http://www.example.org/%d", i)))
		}
		time.Sleep(11 * time.Second)
		if _, f = digest(n[0], http.MethodGet); f.Shape().M > 1024 || !f.Has(keyOf("http://www.example.org/45", "")) {
			t.Errorf("%d cells for 12 keys", f.Shape().M)
		}
		time.Sleep(100 * time.Second)
		if _, f = digest(n[0], http.MethodGet); f.Has(keyOf("http://www.example.org/45", "")) {
			t.Error("an expired response is in the digest")
		}
		if res, _ := digest(n[0], http.MethodPost); res.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("POST: status %d, want 405", res.StatusCode)
		}
		if res, _ := digest(n[1], http.MethodGet); res.StatusCode != http.StatusForbidden {
			t.Errorf("a node that does not permit it: status %d, want 403", res.StatusCode)
		}
	})
}

// source is the digest of a Squid.
type source struct {
	filter *squid.Filter
	err    error
}

func (s source) Fetch(context.Context) (*squid.Filter, time.Duration, error) {
	return s.filter, time.Minute, s.err
}

// The responses of a Squid without a sidecar are used if this node could have stored them and they are fresh.
func TestSquidPeer(t *testing.T) {
	var posts atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		if !strings.HasPrefix(r.RequestURI, "http://www.example.org/") || r.Header.Get("Cache-Control") != "only-if-cached" {
			t.Errorf("request for %q, %v", r.RequestURI, r.Header)
		}
		h := rw.Header()
		h.Set("Cache-Control", "max-age=100")
		switch r.URL.Path {
		case "/old":
			h.Set("Age", "99")
		case "/private":
			h.Set("Cache-Control", "private, max-age=100")
		case "/silent":
			h.Del("Cache-Control")
		case "/false":
			rw.WriteHeader(http.StatusGatewayTimeout)
		case "/aged":
			h.Set("Age", "7")
		}
		fmt.Fprint(rw, "squid ", r.URL.RequestURI())
	}))
	defer s.Close()
	f, err := squid.NewShape(squid.Shape{M: 1 << 16, Hasher: squid.Hasher})
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{"/a?b=%2F": true, "/aged": true, "/old": false, "/private": false, "/silent": false, "/false": false}
	for path := range paths {
		f.Add(keyOf("http://www.example.org"+path, ""))
	}
	key, _, err := share.NewKey("example.org/n")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	ctx, stop := context.WithCancel(t.Context())
	m, err := siblings.New(ctx, siblings.Options{
		Key: key, Token: token, Period: 100 * time.Millisecond, Patience: time.Minute, HTTP: transport,
		Peers: []siblings.PeerOptions{
			{Name: "squid", URL: address(s.URL), Squid: source{filter: f}},
			{Name: "gone", URL: address("http://127.0.0.1:1"), Squid: source{err: errors.New("connection refused")}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); m.Run(ctx) }()
	defer func() { stop(); <-ended }()
	await.True(t, "one peer has a version, and the other one refuses connections", func() bool {
		peers := m.Status().Peers
		return peers[0].Version > 0 && strings.Contains(peers[1].Problem, "refused")
	})
	rt := m.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		fmt.Fprint(rec, "origin")
		return rec.Result(), nil
	}))
	get := func(url string) (*http.Response, string) {
		res, err := rt.RoundTrip(httptest.NewRequest(http.MethodGet, url, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(b)
	}
	for path, used := range paths {
		want := "origin"
		if used {
			want = "squid " + path
		}
		if _, body := get("http://www.example.org" + path); body != want {
			t.Errorf("%s: got %q, want %q", path, body, want)
		}
	}
	res, _ := get("http://www.example.org/aged")
	if age, err := strconv.Atoi(res.Header.Get("Age")); err != nil || age < 8 {
		t.Errorf("age %q, want at least 8", res.Header.Get("Age"))
	}
	if _, body := get("https://www.example.org/aged"); body != "origin" {
		t.Errorf("https: got %q", body)
	}
	p := m.Status().Peers[0]
	if p.Hits != 3 || p.Absent != 1 || p.Refused != 3 || p.Failed != 0 || posts.Load() != 0 {
		t.Errorf("%+v, %d reports", p, posts.Load())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
