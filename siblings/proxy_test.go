package siblings_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/internal/httptarget"
	"github.com/umbel-filters/umbel/siblings"
)

// rawOrigin is a server that answers each request without a body with given bytes, and keeps the heads of requests.
type rawOrigin struct {
	addr string

	mu     sync.Mutex
	answer string
	heads  []string
}

func newRawOrigin(t *testing.T, answer string) *rawOrigin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &rawOrigin{addr: l.Addr().String(), answer: answer}
	var running sync.WaitGroup
	conns := sync.Map{}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Store(c, true)
			running.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		running.Wait()
	})
	return o
}

func (o *rawOrigin) serve(c net.Conn) {
	defer c.Close()
	b := bufio.NewReader(c)
	for {
		var head strings.Builder
		for !strings.HasSuffix(head.String(), "\r\n\r\n") {
			line, err := b.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
		}
		o.mu.Lock()
		o.heads = append(o.heads, head.String())
		answer := o.answer
		o.mu.Unlock()
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// last returns the first line of the last request and the one after it, which is the host.
func (o *rawOrigin) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.heads) == 0 {
		return ""
	}
	lines := strings.SplitN(o.heads[len(o.heads)-1], "\r\n", 3)
	return lines[0] + "\r\n" + lines[1]
}

// exchange sends bytes on a connection of its own, and returns the answer.
func exchange(t *testing.T, addr, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sidecarOf serves the sidecar of one node in front of an origin, and returns its address.
func sidecarOf(t *testing.T, origin string, change func(name string, o *siblings.Options)) (*node, string) {
	t.Helper()
	n := nodes(t, newWorld(), names(1), change)[0]
	h, err := n.Handler(address("http://" + origin))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.DisableGeneralOptionsHandler = true
	s.Start()
	t.Cleanup(s.Close)
	return n, s.Listener.Addr().String()
}

// The origin gets the target of a request as it was sent, and the response is published under that URL and no other.
func TestTarget(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok"
	origin := newRawOrigin(t, answer)
	n, addr := sidecarOf(t, origin.addr, nil)
	targets := []string{
		"/f?p=linux.git;a=tree", "/f?a=b&c;d=e&f=g", "/f?%zz", "/f?a=%", "/f?", "/f??", "/f", "//f", "/a//b/../c/.", "/a%2Fb", "/a%2fb", "/{a}%2Fb", `/"a"`,
		"/\xffä", "/a#b",
		"/f?a=\"b\"", "/%7ea", "/a;b", "/f?=", "/f?&&", "/*",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		target := fmt.Sprintf("/r%d/", i) // not one of before
		for range rnd.IntN(8) {
			target += []string{"a", "/", "%2F", "%41", "{", "|", "\xe4", ".", "?", ";", "&", "=", "#", "\"", "+", "%3f"}[rnd.IntN(16)]
		}
		targets = append(targets, target)
	}
	for _, target := range targets {
		for _, method := range []string{"GET", "PUT", "MKCOL"} {
			before := n.Held().Len()
			got := exchange(t, addr, method+" "+target+" HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n")
			if line := origin.last(); line != method+" "+target+" HTTP/1.1\r\nHost: www.example.org" || !strings.HasSuffix(got, "ok") {
				t.Errorf("%s %s arrives as %q: %q", method, target, line, got)
			}
			if method == "GET" && (n.Held().Len() != before+1 || !n.Held().Has(siblings.Key("http://www.example.org"+target))) {
				t.Errorf("%s is not published as such", target)
			}
		}
	}
	for _, c := range []struct{ sent, arrives string }{
		{"GET http://www.example.org/{a}%2Fb?c;d", "GET /{a}%2Fb?c;d"},
		{"GET http://www.example.org?a", "GET /?a"},
		{"OPTIONS *", "OPTIONS *"},
		{"OPTIONS http://www.example.org", "OPTIONS *"},
		{"GET urn:a", ""},
		{"CONNECT www.example.org:80", ""},
		{`GET //"a"`, ""}, // net/http can't send it
	} {
		before := len(origin.heads)
		got := exchange(t, addr, c.sent+" HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n")
		switch {
		case c.arrives == "" && (len(origin.heads) != before || !strings.HasPrefix(got, "HTTP/1.1 400 ")):
			t.Errorf("%s: %q, want 400 and no request", c.sent, got)
		case c.arrives != "" && origin.last() != c.arrives+" HTTP/1.1\r\nHost: www.example.org":
			t.Errorf("%s arrives as %q", c.sent, origin.last())
		}
	}
}

// A sibling is requested for the URL that the origin would get, which is the one that it publishes.
func TestTargetOfSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(2), nil)
		var asked []string
		w.mu.Lock()
		w.hosts["cache-n0"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			asked = append(asked, httptarget.Of(r.URL))
			rw.WriteHeader(http.StatusNotFound)
		})
		w.mu.Unlock()
		h, err := n[1].Handler(address("http://origin"))
		if err != nil {
			t.Fatal(err)
		}
		targets := []string{"/{a}%2Fb?c;d=e", "/f?%zz", "//a", `/"`}
		for _, target := range targets {
			n[0].Added(siblings.Key("http://www.example.org"+target), time.Now().Add(time.Hour))
		}
		settle()
		for _, target := range targets {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: www.example.org\r\n\r\n")))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := contextWithTimeout(t, time.Second) // no origin
			h.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			cancel()
		}
		if !slices.Equal(asked, targets) {
			t.Errorf("the sibling is requested for %q, want %q", asked, targets)
		}
	})
}

// What the origin sends arrives, or is refused by rule; what the client does wrong is no fault of the origin.
func TestThrough(t *testing.T) {
	const get = "GET /a HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n"
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	for _, c := range []struct {
		name, request, answer string
		status                string
		want, not             []string // lines of the head
	}{
		{"no type", get, ok + "\r\n<p", "200", nil, []string{"Content-Type"}},
		{"an empty type", get, ok + "Content-Type:\r\n\r\n<p", "200", []string{"Content-Type: "}, nil},
		{"a space before the colon", get, ok + "Cache-Control : private\r\nSet-Cookie : a=b\r\n\r\nhi",
			"200", []string{"Cache-Control: private", "Set-Cookie: a=b"}, nil},
		{"a folded line", get, ok + "Cache-Control: no-cache,\r\n private\r\n\r\nhi", "200", []string{"Cache-Control: no-cache, private"}, nil},
		{"a space in a name", get, ok + "Cache Control: private\r\n\r\nhi", "502", nil, []string{"Cache Control"}},
		{"a status that is none", get, "HTTP/1.1 042 X\r\nContent-Length: 2\r\n\r\nhi", "502", nil, nil},
		{"hints", get, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "\r\nhi", "103", []string{"Link: </a>"}, nil},
		{"304", get, "HTTP/1.1 304 N\r\nETag: \"a\"\r\nContent-Type: a/b\r\nContent-Length: 10\r\n\r\n",
			"304", []string{`Etag: "a"`, "content-type: a/b", "content-length: 10"}, nil},
		{"announced trailers", get, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-T: a\r\n\r\n",
			"200", []string{"Trailer: X-T"}, nil},
		{"many fields", get, ok + strings.Repeat("Set-Cookie: a="+strings.Repeat("b", 90)+"\r\n", 2000) + "\r\nhi",
			"200", []string{"Set-Cookie: a=" + strings.Repeat("b", 90)}, nil},
		{"204", get, "HTTP/1.1 204 N\r\nX-A: b\r\n\r\n", "204", []string{"X-A: b"}, []string{"Content-Length", "Content-Type"}},
		{"HEAD", strings.Replace(get, "GET", "HEAD", 1), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
			"200", []string{"Content-Length: 10"}, []string{"Content-Type"}},
		{"OPTIONS", strings.Replace(get, "GET /a", "OPTIONS *", 1), ok + "\r\nhi", "200", nil, nil},
		{"Max-Forwards", "OPTIONS /a HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n", ok + "\r\nhi", "204", nil, nil},
		{"a bad chunk", "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ok + "\r\nhi", "400", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			origin := newRawOrigin(t, c.answer)
			if c.status == "400" {
				origin = newSilentOrigin(t)
			}
			n, addr := sidecarOf(t, origin.addr, nil)
			got := exchange(t, addr, c.request)
			head, _, _ := strings.Cut(got, "\r\n\r\n")
			lines := strings.Split(head, "\r\n")
			if !strings.HasPrefix(lines[0], "HTTP/1.1 "+c.status+" ") {
				t.Fatalf("%q, want %s", lines[0], c.status)
			}
			for _, line := range c.want {
				if !slices.Contains(lines, line) {
					t.Errorf("%q lacks %q", lines, line)
				}
			}
			for _, name := range c.not {
				if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+":") }) {
					t.Errorf("%q has %s", lines, name)
				}
			}
			if s := n.Status(); (s.Errors > 0) != (c.status == "502") || (s.Outage != nil) != (c.status == "502") {
				t.Errorf("%d errors, outage %v", s.Errors, s.Outage)
			}
		})
	}
}

// newSilentOrigin returns a server that reads and never answers.
func newSilentOrigin(t *testing.T) *rawOrigin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return &rawOrigin{addr: l.Addr().String()}
}

// A connection whose protocol is switched carries what both sides send.
func TestUpgrade(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		if _, err := http.ReadRequest(r); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
			_, _ = io.Copy(c, r)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	_, addr := sidecarOf(t, l.Addr().String(), nil)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(c)
	_, _ = io.WriteString(c, "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Upgrade") != "echo" {
		t.Fatalf("%v, %v", res, err)
	}
	for _, text := range []string{"hello", "\x00\xff", "bye"} {
		_, _ = io.WriteString(c, text)
		b := make([]byte, len(text))
		if _, err := io.ReadFull(r, b); err != nil || string(b) != text {
			t.Errorf("%q, %v, want %q", b, err, text)
		}
	}
}

// An answer of the origin that breaks off is logged, and the client gets no whole answer.
func TestIncompleteAnswer(t *testing.T) {
	var log lockedBuffer
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := l.Accept(); err == nil {
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	_, addr := sidecarOf(t, l.Addr().String(), func(_ string, o *siblings.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if got := exchange(t, addr, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"); !strings.HasSuffix(got, "\r\n\r\nhalf") || !strings.Contains(got, "Content-Length: 10") {
		t.Errorf("%q", got)
	}
	if got := log.String(); strings.Count(got, "the answer of the origin is incomplete") != 1 {
		t.Errorf("log:\n%s", got)
	}
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
