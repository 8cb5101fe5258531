package cacheserver

import (
	"bufio"
	"bytes"
	"crypto/tls"
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
)

// rawOrigin answers each head, by its lines, without reading a body.
func rawOrigin(t *testing.T, answer func(head string, connection *string) string) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	stop := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		close(stop)
		running.Wait()
	})
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				<-stop
				c.Close() // that the cache keeps
			})
			running.Go(func() {
				defer c.Close()
				r, state := bufio.NewReader(c), ""
				for {
					head := ""
					for !strings.HasSuffix(head, "\r\n\r\n") {
						line, err := r.ReadString('\n')
						if err != nil {
							return
						}
						head += line
					}
					if _, err := io.WriteString(c, answer(head, &state)); err != nil {
						return
					}
				}
			})
		}
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// withTLS gives a cache a certificate, and returns a client of HTTP/2.
func withTLS(t *testing.T, c *Config) *http.Client {
	t.Helper()
	c.TLSCert, c.TLSKey = selfSigned(t, t.TempDir(), 1)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// An origin answers before it has read the body, and the client sends the rest: the cache goes on.
func TestUploadAfterTheAnswer(t *testing.T) {
	c := testConfig(rawOrigin(t, func(string, *string) string { return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly" }))
	client := withTLS(t, &c)
	s := start(t, c)
	for range 20 {
		body, send := io.Pipe()
		go func() { _, _ = io.WriteString(send, "a") }()
		res, err := client.Post("https://"+s.Addr().String()+"/file", "text/plain", body)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != "early" || res.ProtoMajor != 2 {
			t.Fatalf("%s %q, %v", res.Proto, b, err)
		}
		_, _ = io.WriteString(send, "b")
		send.Close()
	}
}

// A connection that NTLM or Negotiate authenticates serves no other client.
func TestConnectionsOfUsers(t *testing.T) {
	s := start(t, testConfig(rawOrigin(t, func(head string, user *string) string {
		if strings.Contains(head, "Authorization: N") {
			*user = "alice"
		}
		body := "mail of " + *user
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	})))
	for _, method := range []string{"GET", "POST"} {
		for _, scheme := range []string{"NTLM", "Negotiate"} {
			const request = "%s /inbox HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n%s\r\n"
			if got := raw(t, s, fmt.Sprintf(request, method, "Authorization: "+scheme+" AAAA\r\n")); !strings.HasSuffix(got, "mail of alice") {
				t.Errorf("%s: %s", scheme, got)
			}
			if got := raw(t, s, fmt.Sprintf(request, method, "")); !strings.HasSuffix(got, "mail of ") {
				t.Errorf("the next client gets %s", got)
			}
		}
	}
}

// What a client did wrong is no failure of the origin: not in the log, and not in the counters.
func TestClientsAtFault(t *testing.T) {
	var log bytes.Buffer
	c := testConfig(originOf(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := start(t, c)
	for name, request := range map[string]string{
		"chunk size":      "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
		"trailer":         "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n0\r\nno colon\r\n\r\n",
		"half a body":     "Content-Length: 100\r\n\r\nabc",
		"half of a chunk": "Transfer-Encoding: chunked\r\n\r\n30\r\nabc",
	} {
		if got := raw(t, s, "POST /f HTTP/1.1\r\nHost: x\r\n"+request); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := s.Cache.Unreachable(); err != nil || s.Cache.Stats().Errors.Load() > 0 || log.Len() > 0 {
		t.Errorf("unreachable by %v, %d errors, log %s", err, s.Cache.Stats().Errors.Load(), log.String())
	}
}

// No Content-Type is invented, for a miss, a hit, another method and HEAD.
func TestNoContentType(t *testing.T) {
	s := start(t, testConfig(rawOrigin(t, func(head string, _ *string) string {
		answer := "HTTP/1.1 200 OK\r\nCache-Control: max-age=60, no-transform\r\nContent-Length: 16\r\n\r\n"
		if !strings.HasPrefix(head, "HEAD") {
			answer += "<html><script>1;"
		}
		return answer
	})))
	for _, request := range []string{"GET /s", "GET /s", "POST /s", "HEAD /s", "HEAD /t", "GET /no-store"} {
		if got := raw(t, s, request+" HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") || strings.Contains(strings.ToLower(got), "content-type") {
			t.Errorf("%s: %s", request, got)
		}
	}
}

// A space before the colon hides no field from the cache.
func TestSpaceBeforeColon(t *testing.T) {
	for _, field := range []string{"Cache-Control : private", "cache-control : no-store", "Set-Cookie : a=b", "Vary : *"} {
		s := start(t, testConfig(rawOrigin(t, func(string, *string) string {
			return "HTTP/1.1 200 OK\r\n" + field + "\r\nLast-Modified: Fri, 01 Jan 2010 00:00:00 GMT\r\nContent-Length: 6\r\n\r\nsecret"
		})))
		name, value, _ := strings.Cut(field, " : ")
		for range 2 {
			got := raw(t, s, "GET /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if !strings.Contains(got, "\r\n"+http.CanonicalHeaderKey(name)+": "+value+"\r\n") || strings.Contains(got, "umbel; hit") {
				t.Errorf("%s: %s", field, got)
			}
		}
	}
}

// Requests whose answer is not stored keep the fields with which proxies state who the client is; the scheme is stated if it is known.
func TestForwardedFields(t *testing.T) {
	const sent = "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: http\r\nForwarded: for=203.0.113.7\r\nX-Real-Ip: 203.0.113.7\r\n"
	var mu sync.Mutex
	var head string
	origin := rawOrigin(t, func(h string, _ *string) string {
		mu.Lock()
		head = h
		mu.Unlock()
		return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	})
	lines := func(text string) (n int) {
		for line := range strings.Lines(text) {
			if line != "\r\n" && strings.Contains(sent, line) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		scheme, method string
		fields         int    // of sent that arrive
		proto          string // that arrives
	}{
		{"", "POST", 4, "http"}, {"", "GET", 0, ""}, {"https", "POST", 3, "https"}, {"https", "GET", 0, "https"}, {"", "HEAD", 4, "http"}, {"https", "HEAD", 3, "https"},
	} {
		config := testConfig(origin)
		config.Scheme = c.scheme
		s := start(t, config)
		raw(t, s, c.method+" /login HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n"+sent+"\r\n")
		mu.Lock()
		got := head
		mu.Unlock()
		if n := lines(got); n != c.fields || c.proto != "" && strings.Count(got, "X-Forwarded-Proto: "+c.proto+"\r\n") != 1 || c.proto == "" && strings.Contains(got, "X-Forwarded-Proto") {
			t.Errorf("%s with scheme %q: %d fields in %q, want %d and X-Forwarded-Proto: %s", c.method, c.scheme, n, got, c.fields, c.proto)
		}
	}
	c := testConfig(origin)
	client := withTLS(t, &c)
	s := start(t, c)
	client.Timeout = time.Minute
	res, err := client.Get("https://" + s.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(head, "X-Forwarded-Proto: https\r\n") {
		t.Errorf("with TLS: %q", head)
	}
}

// What is sent instead of a body, or without one, passes: the length of HEAD, and the fields of a 304.
func TestAnswersWithoutBody(t *testing.T) {
	for _, c := range []struct{ method, answer, want string }{
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nContent-Type: a/b\r\n\r\n", "Content-Length: 1234\r\nContent-Type: a/b\r\n"},
		{"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
		{"GET", "HTTP/1.1 304 N\r\nContent-Length: 1234\r\nContent-Type: a/b\r\nEtag: \"x\"\r\n\r\n", "content-length: 1234\r\ncontent-type: a/b\r\nEtag: \"x\"\r\n"},
		{"POST", "HTTP/1.1 304 N\r\nContent-Length: 1234\r\nContent-Type: a/b\r\n\r\n", "content-length: 1234\r\ncontent-type: a/b\r\n"},
		{"GET", "HTTP/1.1 204 N\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\n", "Content-Type: a/b\r\n"},
		{"POST", "HTTP/1.1 204 N\r\nContent-Type: a/b\r\n\r\n", "Content-Type: a/b\r\n"},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "Content-Length: 0\r\n"},
		{"POST", "HTTP/1.1 205 R\r\nContent-Length: 0\r\n\r\n", "Content-Length: 0\r\n"},
	} {
		s := start(t, testConfig(rawOrigin(t, func(string, *string) string { return c.answer })))
		got := raw(t, s, c.method+" / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		_, status, _ := strings.Cut(c.answer, " ")
		head, body, _ := strings.Cut(got, "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		if !strings.HasPrefix(lines[0], "HTTP/1.1 "+status[:3]) || body != "" {
			t.Errorf("%s of %q: %q", c.method, c.answer, got)
		}
		for name, want := range map[string]int{"content-length": strings.Count(strings.ToLower(c.want), "content-length"), "content-type": strings.Count(strings.ToLower(c.want), "content-type"), "transfer-encoding": 0} {
			if n := strings.Count(strings.ToLower(head), "\r\n"+name+":"); n != want {
				t.Errorf("%s of %q: %s %d times, want %d: %q", c.method, c.answer, name, n, want, got)
			}
		}
		for line := range strings.Lines(c.want) {
			if !strings.Contains(head+"\r\n", "\r\n"+line) {
				t.Errorf("%s of %q: no line %q in %q", c.method, c.answer, line, got)
			}
		}
	}
}

// A stored response has the fields and the body that the origin sent, in memory, on disk, and after a restart.
func TestHitsAsSent(t *testing.T) {
	const fields = "Cache-Control: max-age=60\r\nX-Latin: gr\xfc\xdfe\r\nX-Empty: \r\nX-Tab: a\tb\r\nX-Two: 1\r\nX-Two: 2, 3\r\nX-Two: \r\nLink: <a>; rel=\"b\"\r\nX_under!: \x80\xff\r\n"
	const body = "\x00\xff<html>\r\n"
	origin := rawOrigin(t, func(string, *string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", fields, len(body), body)
	})
	disk := t.TempDir()
	for _, on := range []string{"", disk, disk} {
		c := testConfig(origin)
		c.Disk = on
		s, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for hit := false; !hit; hit = strings.Contains(got, "umbel; hit") {
			got = raw(t, s, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			for line := range strings.Lines(fields) {
				name, value, _ := strings.Cut(line, ": ")
				if line = http.CanonicalHeaderKey(name) + ": " + value; strings.Count(got, "\r\n"+line) != 1 {
					t.Errorf("in %q: %q", on, got)
					hit = true
				}
			}
			if !strings.HasSuffix(got, "\r\n\r\n"+body) || strings.Contains(got, "Content-Type") {
				t.Fatalf("in %q: %q", on, got)
			}
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
