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

	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/internal/await"
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
	await.True(t, "the transfer ends", ended.Load)
}

// part returns a handler that sends n bytes of a NAR and then breaks off or hangs.
func part(n int, end func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(bytes.Repeat([]byte("x"), n))
		http.NewResponseController(w).Flush()
		end()
	})
}

// TestNARFromOther: if a NAR breaks off before something was passed on, another upstream replies instead. After that it is
// tried first until the one that failed has a whole NAR again.
func TestNARFromOther(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	for what, end := range map[string]func(){"cut": func() { panic(http.ErrAbortHandler) }, "silent": func() { <-hang }} {
		t.Run(what, func(t *testing.T) {
			var asked atomic.Int64
			broken := part(10_000, end)
			good := newCache(0, 10)
			stall := time.Duration(0) // the default
			if what == "silent" {
				stall = time.Second
			}
			base, c := over(t, stall, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				broken.ServeHTTP(w, r)
			}), good), client(t)
			for range 5 {
				reply, err := c.Get(base + "/nar/3.nar.xz")
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(reply.Body)
				reply.Body.Close()
				if err != nil || string(body) != narOf(3) {
					t.Errorf("%d bytes, %v", len(body), err)
				}
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("%d requests to the upstream that breaks off, want 1", n)
			}
		})
	}
}

// TestNARSlow: a NAR that arrives too slowly is given up.
func TestNARSlow(t *testing.T) {
	base := over(t, time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 100_000))
		for r.Context().Err() == nil {
			http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
			w.Write([]byte("x"))
		}
	}))
	reply, err := client(t).Get(base + "/nar/x")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if n, err := io.Copy(io.Discard, reply.Body); err == nil || n > 200_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestNARUnchanged: the target and the fields arrive as they were sent.
func TestNARUnchanged(t *testing.T) {
	var got atomic.Pointer[string]
	base := strings.TrimPrefix(over(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(&r.RequestURI)
		h := w.Header()
		h["Content-Type"] = nil
		h.Set("Cache-Control", "private")
		h.Set("Vary", "Accept")
		h["Set-Cookie"] = []string{"a=b", "c=d"}
		h["Keep-Alive"] = []string{"timeout=1"}
		h.Set("Trailer", "X-T")
		fmt.Fprint(w, "<html>")
		h.Set("X-T", "end")
	})), "http://")
	for _, target := range []string{"/nar/a", "/nar/a%2541", "/nar/a%3Fb?c;d=%zz", "/nar/{a}%2fb", "/nar/a?"} {
		conn, err := net.Dial("tcp", base)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target)
		b, err := io.ReadAll(conn)
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Load(); s == nil || *s != target {
			t.Errorf("%s arrives as %v", target, s)
		}
		for _, line := range []string{"Cache-Control: private", "Vary: Accept", "Set-Cookie: a=b", "Set-Cookie: c=d", "Trailer: X-T", "X-T: end"} {
			if !strings.Contains(string(b), "\r\n"+line+"\r\n") {
				t.Errorf("%s: no %s in %q", target, line, b)
			}
		}
		for _, name := range []string{"Content-Type", "Keep-Alive"} {
			if strings.Contains(string(b), name) {
				t.Errorf("%s: %s in %q", target, name, b)
			}
		}
	}
}
