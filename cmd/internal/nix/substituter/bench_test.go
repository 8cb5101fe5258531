package substituter_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share/web"
)

// filterSummary is a current summary that has the answers of a filter.
type filterSummary struct {
	fixed
	f umbel.Filter
}

func (s filterSummary) Has(q substituter.Path) substituter.Answer {
	if s.f.Has(umbel.Hasher{}.HashString(q.Text)) {
		return substituter.Maybe
	}
	return substituter.Absent
}

// million returns a sparse filter of a million paths at 0.1 %, as a substituter keeps it.
func million(b *testing.B) umbel.Filter {
	b.Helper()
	f, err := bloom.NewShape(bloom.Shape{M: 1e9, K: 1, Group: 6})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.NewPCG(1, 2)
	for range 1_000_000 {
		f.Add(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
	}
	s, err := sparse.FromBloom(f.State())
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// randomRequest sets the path of a request to a narinfo that no cache has.
func randomRequest(r *http.Request, rng *rand.PCG) {
	var h nixbloom.Hash
	for i := range h {
		h[i] = byte(rng.Uint64())
	}
	r.URL.Path = "/" + h.String() + ".narinfo"
}

// BenchmarkAbsent answers requests for paths that are absent from two upstreams of a million paths: by the handler
// alone, and over one connection on loopback, client included.
func BenchmarkAbsent(b *testing.B) {
	f := million(b)
	up := substituter.Upstream{URL: address("a"), Summary: filterSummary{f: f}}
	s := server(b, network{"a": newCache(0, 0)}, up, up)
	b.Run("handler", func(b *testing.B) {
		b.ReportAllocs()
		r, rng := httptest.NewRequest(http.MethodGet, "/", nil), rand.NewPCG(1, 3)
		w := &discard{header: http.Header{}}
		for b.Loop() {
			randomRequest(r, rng)
			s.ServeHTTP(w, r)
		}
	})
	b.Run("loopback", func(b *testing.B) {
		conn, err := net.Dial("tcp", listen(b, s))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		in, r := bufio.NewReader(conn), httptest.NewRequest(http.MethodGet, "/", nil)
		rng, before := rand.NewPCG(1, 4), cpuTime()
		for b.Loop() {
			randomRequest(r, rng)
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", r.URL.Path)
			reply, err := http.ReadResponse(in, r)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, reply.Body)
			reply.Body.Close()
		}
		b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	})
}

// discard is a response writer that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkNAR passes a NAR of 64 MiB on over loopback.
func BenchmarkNAR(b *testing.B) {
	body := make([]byte, 64<<20)
	base := over(b, 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
	c := client(b)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		reply, err := c.Get(base + "/nar/x")
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
}

// BenchmarkVisible measures the time from a path in the directory or the list of a cache until the summary of a
// substituter has the path: looks every 500 ms, publication over HTTP on loopback.
func BenchmarkVisible(b *testing.B) {
	b.Run("directory/n=1000", func(b *testing.B) {
		w := publish(b, time.Minute, 1000)
		visible(b, w, 1000, func(int) {}, func(i int) { w.touch(i, i+1) })
	})
	b.Run("list/n=1000000", func(b *testing.B) {
		const n = 1_000_000
		var list bytes.Buffer
		for i := range n {
			fmt.Fprintln(&list, hash(i))
		}
		name := filepath.Join(b.TempDir(), "list")
		write := func() {
			if err := os.WriteFile(name+".new", list.Bytes(), 0o666); err != nil {
				b.Fatal(err)
			}
		}
		write()
		if err := os.Rename(name+".new", name); err != nil {
			b.Fatal(err)
		}
		visible(b, publishFrom(b, time.Minute, name), n, func(i int) {
			fmt.Fprintln(&list, hash(i))
			write()
		}, func(int) {
			if err := os.Rename(name+".new", name); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// visible adds paths from number n on, each after prepare, whose time does not count.
func visible(b *testing.B, w *published, n int, prepare, add func(int)) {
	ctx, stop := context.WithCancel(b.Context())
	following := make(chan error, 1)
	go func() { following <- w.p.Follow(ctx, nixcache.DefaultPeriod) }()
	defer func() { stop(); <-following }()
	handler := web.NewHandler(w.store, web.HandlerOptions{})
	publication := listen(b, handler)
	defer handler.Close()
	source, err := web.NewClient("http://"+publication, web.ClientOptions{HTTP: client(b)})
	if err != nil {
		b.Fatal(err)
	}
	summary := w.summary(source)
	await.True(b, "the first version arrives", func() bool { return summary.Status().Current })
	most := time.Duration(0)
	for b.Loop() {
		prepare(n)
		time.Sleep(rand.N(nixcache.DefaultPeriod))
		began := time.Now()
		add(n)
		await.True(b, "the path arrives", func() bool { return answer(summary, n) == substituter.Maybe })
		most = max(most, time.Since(began))
		n++
	}
	b.ReportMetric(float64(most.Milliseconds()), "ms-most")
}
