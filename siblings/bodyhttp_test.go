package siblings_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/siblings"
)

// rawSibling sends the requests for one host to a server of raw answers, with the fields of the host's own answers.
type rawSibling struct {
	*world
	host string
	real *http.Transport
	addr string

	mu   sync.Mutex
	head string
}

func (c *rawSibling) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.world.RoundTrip(r)
	if err != nil || r.URL.Host != c.host {
		return res, err
	}
	var head strings.Builder
	for name, values := range res.Header {
		if name != "Content-Length" {
			fmt.Fprintf(&head, "%s: %s\r\n", name, values[0])
		}
	}
	c.mu.Lock()
	c.head = head.String()
	c.mu.Unlock()
	r = r.Clone(r.Context())
	r.URL.Host = c.addr
	return c.real.RoundTrip(r)
}

// TestBrokenBodiesHTTP: over HTTP/1.1, with the answers of a server that breaks off in different ways.
func TestBrokenBodiesHTTP(t *testing.T) {
	for name, answer := range map[string]func(head string) (string, bool){
		"short":       func(head string) (string, bool) { return head + "Content-Length: 6000\r\n\r\n0123456789", false },
		"silent":      func(head string) (string, bool) { return head + "Content-Length: 6000\r\n\r\n0123456789", true },
		"head only":   func(head string) (string, bool) { return head + "Content-Length: 6000\r\n\r\n", true },
		"half a head": func(head string) (string, bool) { return head[:len(head)/2], true },
		"bad chunk": func(head string) (string, bool) {
			return head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", true
		},
		"half a chunk": func(head string) (string, bool) { return head + "Transfer-Encoding: chunked\r\n\r\n50\r\nhello", false },
		"bad trailer": func(head string) (string, bool) {
			return head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\na b: c\r\n\r\n", true
		},
		"malformed": func(head string) (string, bool) {
			return head + "Vary\t: cookie\r\nContent-Length: 5\r\n\r\nhello", true
		},
		"no length": func(head string) (string, bool) { return head + "Connection: close\r\n\r\nhello", false },
		"two lengths": func(head string) (string, bool) {
			return head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", true
		},
		"another coding": func(head string) (string, bool) {
			return head + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", true
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := rawlyServed(t, answer)
			var clients sync.WaitGroup
			for i := range 12 {
				clients.Go(func() {
					path := fmt.Sprintf("/%d", i)
					if body, err := n[1].fetch(t, path); err != nil || body != "origin "+path {
						t.Errorf("%s: %q, %v, want the answer of the origin", path, body, err)
					}
				})
			}
			clients.Wait()
			if s := n[1].Status(); s.Hits != 0 || s.Origin != 12 || s.Peers[0].Failed+s.Peers[0].Refused == 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// rawlyServed returns two nodes of which the second one gets answers of the first one from a raw server, and has the publication of 12 responses.
func rawlyServed(t *testing.T, answer func(head string) (bytes string, stays bool)) []*node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	c := &rawSibling{world: w, host: "cache-n0", real: &http.Transport{DisableCompression: true}, addr: l.Addr().String()}
	var running sync.WaitGroup
	stop := make(chan struct{})
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					return
				}
				c.mu.Lock()
				bytes, stays := answer("HTTP/1.1 200 OK\r\n" + c.head)
				c.mu.Unlock()
				if _, err := io.WriteString(conn, bytes); err == nil && stays {
					<-stop
				}
			})
		}
	})
	t.Cleanup(func() {
		close(stop)
		l.Close()
		c.real.CloseIdleConnections()
		running.Wait()
	})
	n := nodes(t, w, names(2), func(name string, o *siblings.Options) {
		o.Period = 100 * time.Millisecond
		if name == "n1" {
			o.HTTP = c
		}
	})
	for i := range 12 {
		n[0].get(t, fmt.Sprintf("/%d", i))
	}
	for i := range 12 { // until it is known
		r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://origin/%d", i), nil)
		await.True(t, "the response is published", func() bool { return len(n[1].Holds(r)) > 0 })
	}
	return n
}

// TestInterim: interim answers of siblings are not for clients, since the response may not be used.
func TestInterim(t *testing.T) {
	n := rawlyServed(t, func(head string) (string, bool) {
		return "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + head + "Content-Length: 9\r\n\r\norigin /3", true
	})
	passed := 0
	trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { passed++; return nil }}
	r := httptest.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, "http://origin/3", nil)
	res, err := n[1].Transport(n[1].world).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != "origin /3" || passed != 0 {
		t.Errorf("%q, %v, %d interim answers", b, err, passed)
	}
}
