package hop

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/httptarget"
)

// http2Origin returns a proxy in front of an origin with HTTP/2, and its address.
func http2Origin(t *testing.T, origin http.HandlerFunc) string {
	t.Helper()
	behind := httptest.NewUnstartedServer(origin)
	behind.EnableHTTP2 = true
	behind.StartTLS()
	t.Cleanup(behind.Close)
	next := behind.Client().Transport.(*http.Transport)
	next.DisableCompression = true
	next.ExpectContinueTimeout = 0
	to, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := Transport(next)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, err := httptarget.Received(r)
		if err != nil {
			t.Error(err)
			return
		}
		u, err := httptarget.On(to, target)
		if err != nil {
			t.Error(err)
			return
		}
		Proxy{
			Transport: transport, Request: func(out *http.Request) { out.URL, out.Host = u, to.Host },
			Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
				if client := (*ClientError)(nil); errors.As(err, &client) {
					http.Error(w, err.Error(), client.Status)
					return
				}
				t.Errorf("the origin failed: %v", err)
				w.WriteHeader(http.StatusBadGateway)
			},
		}.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestHTTP2OriginTarget: an origin with HTTP/2 gets the same target, body and trailers, and its trailers and interim answers arrive.
func TestHTTP2OriginTarget(t *testing.T) {
	addr := http2Origin(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.ProtoMajor != 2 {
			t.Errorf("%v, %s", err, r.Proto)
		}
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.Header().Set("Trailer", "X-T")
		w.Header()["Content-Type"] = nil
		fmt.Fprintf(w, "%s %s %s", r.RequestURI, b, r.Trailer.Get("X-R"))
		w.Header().Set("X-T", "end")
	})
	for _, target := range []string{"/a?b;c=%zz", "/{a}%2Fb", "//a", "/a?", "/\xff"} {
		c, r := dialTo(t, addr)
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nTrailer: X-R\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-R: r\r\n\r\n", target)
		if line, _ := r.ReadString('\n'); line != "HTTP/1.1 103 Early Hints\r\n" {
			t.Fatalf("%q", line)
		}
		if head := readHead(r); !strings.Contains(head, "Link: </a>") {
			t.Errorf("%q", head)
		}
		res, body := read(t, r, "POST")
		if body != target+" hello r" || res.Trailer.Get("X-T") != "end" || res.Header["Content-Type"] != nil {
			t.Errorf("%s: %q, trailers %v, %v", target, body, res.Trailer, res.Header)
		}
	}
}

// TestHTTP2OriginEarly: an origin with HTTP/2 answers, and resets the stream, before the client has sent its body.
func TestHTTP2OriginEarly(t *testing.T) {
	for _, status := range []int{200, 302, 401, 413} {
		addr := http2Origin(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "early")
		})
		for _, head := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
			c, r := dialTo(t, addr)
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n1\r\na\r\n", head)
			res, body := read(t, r, "POST")
			if res.StatusCode != status || body != "early" {
				t.Errorf("%d, %s: %s, %q", status, head, res.Status, body)
			}
			fmt.Fprint(c, "1\r\nb\r\n") // it may fail
			c.Close()
		}
	}
}

// TestNoTunnelOfHTTP2: a client cannot switch to HTTP/2 with the origin, past the proxy.
func TestNoTunnelOfHTTP2(t *testing.T) {
	w := newWorld(t, rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		if strings.Contains(readHead(r), "h2c") {
			_, _ = io.WriteString(c, "HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
	}), false)
	for _, upgrade := range []string{"h2c", "H2C", "websocket, h2c"} {
		c, r := w.dial(t)
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", upgrade)
		if res, body := read(t, r, "GET"); res.StatusCode != 200 || body != "ok" {
			t.Errorf("%s: %s, %q", upgrade, res.Status, body)
		}
	}
}

// dialTo connects to a server.
func dialTo(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c, bufio.NewReader(c)
}
