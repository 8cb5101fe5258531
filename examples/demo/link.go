package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
)

// segmentBytes is the maximum number of bytes that a link delivers at once, as TCP does on an Ethernet.
const segmentBytes = 1460

// errLost ends a connection that lost a segment.
var errLost = errors.New("the link lost a segment")

// link is the way from the server to one subscriber: a client for HTTP whose connections count what they
// receive.
//
// With a limit a connection delivers no byte before its time; until then bytes wait in the buffers of the
// system. With losses, a share of the segments is not delivered and nothing is sent again: the connection
// ends there, and the subscriber has to continue in another one. TCP would hide such losses and take
// longer.
type link struct {
	limit *limit  // nil: none
	loss  float64 // share of the segments, of which at most maxLosses in a row are lost

	mu     sync.Mutex
	rand   *rand.Rand
	losses int // in a row

	next                     http.RoundTripper // makes the requests
	transport                *http.Transport
	received, segments, lost atomic.Uint64
	heads, objects           atomic.Uint64 // bytes of bodies that were received
}

// newLink returns a link that delivers a number of bytes per second, 0 for any, and loses a share of the
// segments.
func newLink(bytesPerSecond int, loss float64, seed uint64) *link {
	l := &link{loss: loss, rand: rand.New(rand.NewPCG(seed, 1))}
	if bytesPerSecond > 0 {
		l.limit = &limit{perSecond: bytesPerSecond}
	}
	l.transport = &http.Transport{DialContext: l.dial}
	l.next = l.transport
	return l
}

// limit is a limit of bytes per second. A segment is delivered as a whole. It is safe for concurrent use.
type limit struct {
	perSecond int
	mu        sync.Mutex
	due       time.Time // when the link has delivered all bytes
}

// take adds bytes, and returns the time until the link has delivered them.
func (l *limit) take(bytes int) time.Duration {
	taking := func(n int) time.Duration { return time.Duration(n) * time.Second / time.Duration(l.perSecond) }
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if full := now.Add(-taking(segmentBytes)); l.due.Before(full) {
		l.due = full
	}
	l.due = l.due.Add(taking(bytes))
	return l.due.Sub(now)
}

// client returns the client that uses the link.
func (l *link) client() *http.Client { return &http.Client{Transport: l} }

// RoundTrip counts the bytes of the body of a reply.
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	n := &l.heads
	if strings.HasPrefix(r.URL.Path, "/objects/") {
		n = &l.objects
	}
	reply.Body = countedBody{reply.Body, n}
	return reply, nil
}

// close ends the connections that are not in use.
func (l *link) close() { l.transport.CloseIdleConnections() }

func (l *link) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return l.wrap(c), nil
}

// wrap returns a connection over the link.
func (l *link) wrap(c net.Conn) *conn {
	open, closed := context.WithCancel(context.Background())
	return &conn{Conn: c, link: l, open: open, closed: closed}
}

// loses decides whether a segment is lost.
func (l *link) loses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.losses == maxLosses || l.rand.Float64() >= l.loss {
		l.losses = 0
		return false
	}
	l.losses++
	return true
}

// maxLosses is one less than the number of requests without progress after which a subscriber gives up an object. With
// more, one of many segments would never arrive.
const maxLosses = 2

// conn is a connection over a link.
type conn struct {
	net.Conn
	link   *link
	open   context.Context // ends when the connection is closed
	closed func()
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), segmentBytes)])
	if n == 0 {
		return 0, err
	}
	c.link.segments.Add(1)
	if c.link.loses() {
		c.link.lost.Add(1)
		c.Close()
		return 0, errLost
	}
	if c.link.limit != nil {
		if !pause.For(c.open, c.link.limit.take(n)) {
			return 0, net.ErrClosed
		}
	}
	c.link.received.Add(uint64(n))
	return n, err
}

func (c *conn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// countedBody counts what is read of a body.
type countedBody struct {
	io.ReadCloser
	n *atomic.Uint64
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(uint64(n))
	return n, err
}
