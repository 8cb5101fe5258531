package hoptest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Origin is a server that records what arrives and answers as the law prescribes.
type Origin struct {
	URL *url.URL

	mu        sync.Mutex
	open      map[net.Conn]struct{}
	ended     bool
	exchanges map[int]*exchange
	arrived   map[int]*received
	running   sync.WaitGroup
}

// NewOrigin starts an origin that ends with the test.
func NewOrigin(t testing.TB) *Origin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, l, "http")
}

// NewTLSOrigin is NewOrigin with HTTP/1 over TLS, by a certificate that clients must not verify.
func NewTLSOrigin(t testing.TB) *Origin {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	certificates := s.TLS.Certificates
	s.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certificates})
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, l, "https")
}

// serveAt starts an origin at a listener.
func serveAt(t testing.TB, l net.Listener, scheme string) *Origin {
	o := &Origin{URL: &url.URL{Scheme: scheme, Host: l.Addr().String()}, open: map[net.Conn]struct{}{},
		exchanges: map[int]*exchange{}, arrived: map[int]*received{}}
	o.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if o.add(c) {
				o.running.Go(func() { o.serve(c) })
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		o.mu.Lock()
		o.ended = true
		for c := range o.open {
			c.Close()
		}
		o.mu.Unlock()
		o.running.Wait()
	})
	return o
}

func (o *Origin) add(c net.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		c.Close()
		return false
	}
	o.open[c] = struct{}{}
	return true
}

// prescribe makes the origin answer an exchange.
func (o *Origin) prescribe(e *exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.exchanges[e.number] = e
}

// take returns what has arrived of an exchange, nil for nothing, and forgets the exchange.
func (o *Origin) take(number int) *received {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.arrived[number]
	delete(o.arrived, number)
	delete(o.exchanges, number)
	return m
}

// serve answers the requests of a connection.
func (o *Origin) serve(c net.Conn) {
	defer func() {
		c.Close()
		o.mu.Lock()
		delete(o.open, c)
		o.mu.Unlock()
	}()
	r := bufio.NewReader(c)
	for {
		m, err := readHead(r)
		if err != nil {
			return
		}
		o.mu.Lock()
		e := o.exchanges[numberOf(m.first)]
		o.mu.Unlock()
		if e == nil { // a request without a number: it must not arrive
			return
		}
		if !e.early {
			if m.readBody(r, false) != nil {
				return
			}
		}
		o.mu.Lock()
		o.arrived[e.number] = &m
		o.mu.Unlock()
		if _, err := io.WriteString(c, e.sentAnswer()); err != nil {
			return
		}
		if e.answer.framing == closed || e.answer.fault != nil && e.answer.fault.ends {
			_ = c.(interface{ CloseWrite() error }).CloseWrite()
			_ = c.SetReadDeadline(time.Now().Add(time.Second)) // a reset could delete the answer
			_, _ = io.Copy(io.Discard, r)
			return
		}
		if e.early && m.readBody(r, false) != nil {
			return
		}
	}
}

// numberOf returns the number of the exchange in a request line, -1 for none.
func numberOf(line string) int {
	_, target, _ := strings.Cut(line, " ")
	if _, rest, ok := strings.Cut(target, "://"); ok && target[0] != '/' {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			target = rest[i:]
		}
	}
	for segment := range strings.SplitSeq(target, "/") { // perhaps after Law.Files
		if n, err := strconv.Atoi(segment); err == nil {
			return n
		}
	}
	return -1
}
