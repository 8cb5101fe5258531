package siblings_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

// benchNode returns a mesh with n peers, of which the last one holds the paths /0 to /9999 and each of the others another 10,000.
func benchNode(b *testing.B, peers int) (*siblings.Mesh, *world) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	w := newWorld()
	key := func(name string) share.Key {
		k, _, err := share.NewKey("example.org/" + name)
		if err != nil {
			b.Fatal(err)
		}
		return k
	}
	o := siblings.Options{Key: key("own"), Token: token, HTTP: w, Host: "www.example.org"}
	for i := range peers {
		name := fmt.Sprint("p", i)
		k := key(name)
		m, err := siblings.New(ctx, siblings.Options{Key: k, Token: token, Cache: address("http://cache"), HTTP: w, Period: 100 * time.Millisecond})
		if err != nil {
			b.Fatal(err)
		}
		for j := range 10_000 {
			m.Added(siblings.KeyOf(address(fmt.Sprintf("http://www.example.org/%d", (peers-1-i)*10_000+j)), ""), time.Now().Add(time.Hour))
		}
		w.hosts["sidecar-"+name] = m.Publication()
		o.Peers = append(o.Peers, siblings.PeerOptions{Name: name, URL: address("http://sidecar-" + name), Verifier: k.Verifier})
		running.Go(func() { m.Run(ctx) })
	}
	own, err := siblings.New(ctx, o)
	if err != nil {
		b.Fatal(err)
	}
	running.Go(func() { own.Run(ctx) })
	b.Cleanup(func() { stop(); running.Wait() })
	r := httptest.NewRequest(http.MethodGet, "http://www.example.org/7", nil)
	await.True(b, "the publications arrive", func() bool { return peers == 0 || len(own.Holds(r)) > 0 })
	return own, w
}

// BenchmarkHolds is the time to find who holds a URL.
func BenchmarkHolds(b *testing.B) {
	for _, peers := range []int{1, 10} {
		b.Run(fmt.Sprintf("peers=%d", peers), func(b *testing.B) {
			m, _ := benchNode(b, peers)
			r := httptest.NewRequest(http.MethodGet, "http://www.example.org/none", nil)
			b.ReportAllocs()
			for b.Loop() {
				m.Holds(r)
			}
		})
	}
}

// BenchmarkMiss is the time that the mesh adds to a request that no sibling can answer.
func BenchmarkMiss(b *testing.B) {
	for _, peers := range []int{1, 10} {
		b.Run(fmt.Sprintf("peers=%d", peers), func(b *testing.B) {
			m, _ := benchNode(b, peers)
			header := http.Header{"Cache-Control": {"max-age=100"}}
			transport := m.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: header.Clone(), Body: http.NoBody, Request: r}, nil
			}))
			r := httptest.NewRequest(http.MethodGet, "http://www.example.org/none", nil)
			b.ReportAllocs()
			for b.Loop() {
				res, err := transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
			}
		})
	}
}

// BenchmarkChanged is the time to note that a cache has replaced one of two variants.
func BenchmarkChanged(b *testing.B) {
	m, _ := benchNode(b, 1)
	u := address("http://www.example.org/path")
	response := func(language string) siblings.Response {
		return siblings.Response{
			Header: http.Header{
				"Cache-Control": {"max-age=100"}, "Vary": {"Accept-Language"}, siblings.StampHeader: {"t=1732665600123, age=0, life=100000, variant=0011223344556677"},
			},
			Selected: http.Header{"Accept-Language": {language}}, Until: time.Now().Add(time.Hour),
		}
	}
	list := []siblings.Response{response("de"), response("en")}
	b.ReportAllocs()
	for b.Loop() {
		m.Changed(u, list, list)
	}
}

// BenchmarkAdded is the time to note a response.
func BenchmarkAdded(b *testing.B) {
	h := siblings.NewHeld(1_000_000)
	keys := make([]siblings.Key, 100_000)
	for i := range keys {
		keys[i] = siblings.Key(fmt.Sprintf("http://www.example.org/path/of/some/length/%d", i))
	}
	until := time.Now().Add(time.Hour)
	i := 0
	for b.Loop() {
		h.Added(keys[i%len(keys)], until)
		i++
	}
}
