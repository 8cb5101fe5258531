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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/httptarget"
)

// rawOrigin calls serve for each connection to it.
func rawOrigin(t *testing.T, serve func(net.Conn, *bufio.Reader)) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			})
		}
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// answers returns an origin that answers each head at once, without reading a body.
func answers(t *testing.T, answer string) *url.URL {
	return rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		for readHead(r) != "" {
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	})
}

// readHead returns the lines of a head.
func readHead(r *bufio.Reader) (head string) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == "\r\n" {
			return head
		}
		head += line
	}
}

// watchedWriter reports deadlines that are set after the handler has returned.
type watchedWriter struct {
	http.ResponseWriter
	returned *atomic.Bool
	late     *atomic.Int64
}

func (w watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w watchedWriter) SetReadDeadline(d time.Time) error {
	if w.returned.Load() {
		w.late.Add(1)
		return errors.New("the handler has returned")
	}
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(d)
}

// world is a server with a proxy to an origin.
type world struct {
	*httptest.Server
	transport *http.Transport
	late      atomic.Int64  // deadlines that were set after a handler had returned
	returned  chan struct{} // gets a value after each handler
	faults    chan error    // of origins and clients
	patience  time.Duration
}

func newWorld(t *testing.T, to *url.URL, http2 bool, change ...func(*world)) *world {
	t.Helper()
	w := &world{transport: Prepare(&http.Transport{DisableCompression: true, ExpectContinueTimeout: time.Minute}), returned: make(chan struct{}, 100), faults: make(chan error, 100)}
	for _, c := range change {
		c(w)
	}
	transport := Transport(w.transport)
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		returned := new(atomic.Bool)
		defer func() {
			select {
			case w.returned <- struct{}{}:
			default:
			}
		}()
		defer returned.Store(true)
		var u *url.URL
		target, err := httptarget.Received(r)
		if err == nil {
			u, err = httptarget.On(to, target)
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		Proxy{
			Transport: transport, Patience: w.patience,
			Request: func(out *http.Request) {
				out.URL, out.Host = u, to.Host
			},
			Fail: func(rw http.ResponseWriter, _ *http.Request, err error) {
				select {
				case w.faults <- err:
				default:
				}
				status := http.StatusBadGateway
				var client *ClientError
				if errors.As(err, &client) {
					status = client.Status
				}
				http.Error(rw, "failed", status)
			},
		}.ServeHTTP(watchedWriter{rw, returned, &w.late}, r)
	}))
	w.EnableHTTP2 = http2
	if http2 {
		w.StartTLS()
	} else {
		w.Start()
	}
	t.Cleanup(func() {
		w.transport.CloseIdleConnections()
		w.Close()
	})
	return w
}

// dial connects to the proxy.
func (w *world) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", w.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c, bufio.NewReader(c)
}

// read reads one answer.
func read(t *testing.T, r *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// TestEarlyAnswerHTTP2: the origin answers before the client has sent its body, and the client goes on.
func TestEarlyAnswerHTTP2(t *testing.T) {
	for _, status := range []int{200, 302, 401, 404, 413} {
		w := newWorld(t, answers(t, fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: 5\r\n\r\nearly", status)), true)
		client := w.Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for range 3 {
			body, send := io.Pipe()
			go func() { _, _ = io.WriteString(send, "a") }()
			res, err := client.Post(w.URL+"/file", "text/plain", body)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(res.Body); err != nil || string(b) != "early" || res.StatusCode != status || res.ProtoMajor != 2 {
				t.Errorf("%s, %q, %v", res.Status, b, err)
			}
			<-w.returned
			_, _ = io.WriteString(send, "b") // it may fail: the stream has ended
			send.Close()
		}
		w.transport.CloseIdleConnections()
		w.Close()
		if n := w.late.Load(); n > 0 {
			t.Errorf("status %d: %d deadlines after the handler", status, n)
		}
	}
}

// TestEarlyAnswerHTTP1: the client gets the whole answer before it has sent its body, and learns that the connection ends with it.
func TestEarlyAnswerHTTP1(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 401 U\r\nContent-Length: 5\r\n\r\nearly",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n",
	} {
		for _, head := range []string{"Content-Length: 1000", "Content-Length: 10000000", "Transfer-Encoding: chunked"} {
			w := newWorld(t, answers(t, answer), false)
			c, r := w.dial(t)
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n1\r\na\r\n", head)
			if res, body := read(t, r, "POST"); body != "early" || !res.Close {
				t.Errorf("%s: %v, %q, Close %v", head, res.Status, body, res.Close)
			}
			<-w.returned
			fmt.Fprint(c, "1\r\nb\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
			c.(*net.TCPConn).CloseWrite()
			if rest, _ := io.ReadAll(r); len(rest) > 0 {
				t.Errorf("%s: the rest of the body is taken for a request: %q", head, rest)
			}
			w.transport.CloseIdleConnections()
			w.Close()
			if n := w.late.Load(); n > 0 {
				t.Errorf("%s: %d deadlines after the handler", head, n)
			}
		}
	}
}

// TestConnectionStaysUsable: an origin that does not read a body that has arrived costs no connection.
func TestConnectionStaysUsable(t *testing.T) {
	w := newWorld(t, rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		_, _ = io.CopyN(io.Discard, r, 5)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
	}), false)
	c, r := w.dial(t)
	for range 3 {
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		if res, body := read(t, r, "POST"); body != "ok" || res.Close {
			t.Fatalf("%v, %q, Close %v", res.Status, body, res.Close)
		}
	}
}

// TestExpectContinue: the client gets no request to send a body that the origin does not want.
func TestExpectContinue(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
	refusing := newWorld(t, answers(t, "HTTP/1.1 401 U\r\nContent-Length: 0\r\n\r\n"), false)
	c, r := refusing.dial(t)
	fmt.Fprint(c, head)
	if res, _ := read(t, r, "POST"); res.StatusCode != 401 || !res.Close {
		t.Errorf("%s, Close %v, want 401 and the end of the connection", res.Status, res.Close)
	}

	var got string
	taking := newWorld(t, rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		if !strings.Contains(readHead(r), "Expect: 100-continue\r\n") {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		b := make([]byte, 5)
		_, _ = io.ReadFull(r, b)
		got = string(b)
		_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
	}), false)
	c, r = taking.dial(t)
	fmt.Fprint(c, head)
	if line, _ := r.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q", line)
	}
	_, _ = r.ReadString('\n')
	fmt.Fprint(c, "hello")
	if res, _ := read(t, r, "POST"); res.StatusCode != 201 || got != "hello" || res.Close {
		t.Errorf("%s, Close %v, the origin has %q", res.Status, res.Close, got)
	}
}

// TestFaultsOfClients: they are the client's, whatever the origin notices of them.
func TestFaultsOfClients(t *testing.T) {
	reading := func(t *testing.T) *url.URL {
		return rawOrigin(t, func(c net.Conn, r *bufio.Reader) { _, _ = io.Copy(io.Discard, r) })
	}
	const chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"chunk size", chunked + "zz\r\n", 400},
		{"chunk size after a chunk", chunked + "3\r\nabc\r\nzz\r\n", 400},
		{"end of a chunk", chunked + "3\r\nabcdef\r\n", 400},
		{"trailer without a colon", chunked + "3\r\nabc\r\n0\r\nnonsense\r\n\r\n", 400},
		{"name of a trailer", chunked + "3\r\nabc\r\n0\r\na b: c\r\n\r\n", 400},
		{"half a chunk", chunked + "30\r\nabc", 400},
		{"no last chunk", chunked + "3\r\nabc\r\n", 400},
		{"half a body", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", 400},
		{"protocol", "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: \xff\r\n\r\n", 400},
		{"slow", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", 408},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, reading(t), false, func(w *world) {
				if c.status == 408 {
					w.patience = 50 * time.Millisecond
				}
			})
			conn, r := w.dial(t)
			fmt.Fprint(conn, c.request)
			if c.status == 400 && c.name != "slow" {
				conn.(*net.TCPConn).CloseWrite()
			}
			res, _ := read(t, r, "POST")
			var client *ClientError
			if err := <-w.faults; !errors.As(err, &client) || client.Status != c.status || res.StatusCode != c.status {
				t.Errorf("%s, fault %v, want %d", res.Status, err, c.status)
			}
			if rest, _ := io.ReadAll(r); len(rest) > 0 {
				t.Errorf("after the answer: %q", rest)
			}
		})
	}
}

// TestMalformedAnswers: what can't be mended is refused, and nothing is dropped.
func TestMalformedAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	for name, answer := range map[string]string{
		"a space inside a name":    ok + "Cache Control: private\r\n\r\nhi",
		"a tab before the colon":   ok + "Vary\t: cookie\r\n\r\nhi",
		"no name":                  ok + ": private\r\n\r\nhi",
		"no colon":                 ok + "private\r\n\r\nhi",
		"a bare CR":                ok + "A: b\rSet-Cookie: c\r\n\r\nhi",
		"NUL":                      ok + "A: b\x00\r\n\r\nhi",
		"DEL in a value":           ok + "A: b\x7f\r\n\r\nhi",
		"obs-text in a name":       ok + "\xc3\xbc: b\r\n\r\nhi",
		"a fold before fields":     "HTTP/1.1 200 OK\r\n A: b\r\nContent-Length: 2\r\n\r\nhi",
		"two lengths":              ok + "Content-Length: 1\r\n\r\nhi",
		"a list of lengths":        "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi",
		"a signed length":          "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
		"a space after the length": "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi",
		"a space after framing":    "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"two codings":              "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"status 99":                "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
		"status 0":                 "HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n",
		"status without digits":    "HTTP/1.1 abc X\r\nContent-Length: 0\r\n\r\n",
		"a protocol":               "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
		"no protocol":              "HTTP/1.1 101 S\r\n\r\n",
		"not HTTP":                 "SSH-2.0-OpenSSH\r\n",
		"nothing":                  "",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
				readHead(r)
				_, _ = io.WriteString(c, answer)
			}), false)
			c, r := w.dial(t)
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if res, _ := read(t, r, "GET"); res.StatusCode != 502 {
				t.Errorf("%s %v", res.Status, res.Header)
			}
		})
	}
}

// TestConnectionAuthentication: the connection to the origin is not used after a request that authenticates it.
func TestConnectionAuthentication(t *testing.T) {
	w := newWorld(t, rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		user := "nobody"
		for {
			head := readHead(r)
			if head == "" {
				return
			}
			if strings.Contains(head, "Authorization: N") {
				user = "alice"
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(user), user)
		}
	}), false)
	for i, c := range []struct{ field, want string }{
		{"", "nobody"},
		{"Authorization: NTLM AAAA\r\n", "alice"},
		{"", "nobody"},
		{"Authorization: negotiate AAAA\r\n", "nobody"}, // the origin does not know it in lower case
		{"Authorization: Negotiate AAAA\r\n", "alice"},
		{"", "nobody"},
	} {
		conn, r := w.dial(t)
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", c.field)
		if _, got := read(t, r, "GET"); got != c.want {
			t.Errorf("request %d: %s, want %s", i, got, c.want)
		}
	}
}
