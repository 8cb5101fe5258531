package substituter_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/substituter"
)

// client returns a client of connections that end with the test.
func client(t testing.TB) *http.Client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// over serves a substituter of upstreams on loopback and returns its URL.
func over(t testing.TB, stall time.Duration, upstreams ...http.Handler) string {
	t.Helper()
	o := substituter.Options{Stall: stall}
	for _, h := range upstreams {
		u, err := url.Parse("http://" + listen(t, h))
		if err != nil {
			t.Fatal(err)
		}
		o.Upstreams = append(o.Upstreams, substituter.Upstream{URL: u})
	}
	transport := substituter.NewTransport(5 * time.Second)
	t.Cleanup(transport.CloseIdleConnections)
	o.Transport = transport
	s, err := substituter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + listen(t, s)
}

// TestNAR: bytes, ranges and headers pass through, from the upstream whose narinfo named the NAR and, without a narinfo,
// from the first that has it.
func TestNAR(t *testing.T) {
	a, b := newCache(0, 10), newCache(10, 20)
	base, c := over(t, 0, a, b), client(t)
	fetch := func(path, ranges string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ranges != "" {
			r.Header.Set("Range", ranges)
		}
		reply, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, reply.Header, string(body)
	}
	if status, _, body := fetch("/nar/15.nar.xz", ""); status != ok || body != narOf(15) {
		t.Errorf("without a narinfo: status %d, %d bytes", status, len(body))
	}
	a.requests("")
	if status, _, body := fetch(narinfo(12), ""); status != ok || body != narinfoOf(12) {
		t.Errorf("narinfo: status %d, %q", status, body)
	}
	a.requests("")
	if status, h, body := fetch("/nar/12.nar.xz", ""); status != ok || body != narOf(12) || h.Get("Content-Length") != fmt.Sprint(len(body)) {
		t.Errorf("status %d, %d bytes, %v", status, len(body), h)
	}
	if n := a.requests(""); n != 0 {
		t.Errorf("%d requests to the other upstream, want none", n)
	}
	if status, h, body := fetch("/nar/12.nar.xz", "bytes=100-199"); status != http.StatusPartialContent || body != narOf(12)[100:200] || h.Get("Content-Range") == "" {
		t.Errorf("a range: status %d, %d bytes, %v", status, len(body), h)
	}
	if status, _, _ := fetch("/nar/12.nar.xz", "bytes=100000000-"); status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("a range after the end: status %d", status)
	}
	if status, _, _ := fetch("/nar/99.nar.xz", ""); status != notFound {
		t.Errorf("a NAR that does not exist: status %d", status)
	}
}

// TestNARCut: if the upstream ends before the NAR does, or sends nothing for the time of a stall, the client gets an
// error and not a part that looks complete.
func TestNARCut(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	for what, end := range map[string]func(){"cut": func() { panic(http.ErrAbortHandler) }, "silent": func() { <-hang }} {
		t.Run(what, func(t *testing.T) {
			upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Write(bytes.Repeat([]byte("x"), 100_000)) // in chunks, without a length
				http.NewResponseController(w).Flush()
				end()
			})
			reply, err := client(t).Get(over(t, 200*time.Millisecond, upstream) + "/nar/x")
			if err != nil {
				t.Fatal(err)
			}
			defer reply.Body.Close()
			if n, err := io.Copy(io.Discard, reply.Body); err == nil {
				t.Errorf("%d bytes without an error", n)
			}
		})
	}
}

// TestSlowClient: a client that does not read loses its connection after the time of a stall.
func TestSlowClient(t *testing.T) {
	var ended atomic.Bool
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer ended.Store(true)
		piece := bytes.Repeat([]byte("x"), 1<<20)
		for range 1 << 10 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	base := over(t, 200*time.Millisecond, upstream)
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /nar/x HTTP/1.1\r\nHost: x\r\n\r\n")
	until(t, "the end of the transfer", ended.Load)
}
