package siblings_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/siblings"
)

// fault is how the body of a sibling's response arrives: its first bytes at once, and then pieces of a size after pauses, up to its end.
type fault struct {
	first int // bytes that arrive at once
	size  int // of the pieces after that; 0: none
	pause time.Duration
	end   error // after the last piece; nil: it never ends
}

// faultyCache changes the bodies that come from one host.
type faultyCache struct {
	*world
	host string

	mu    sync.Mutex
	fault *fault
	tries int
}

func (c *faultyCache) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.world.RoundTrip(r)
	if err != nil || r.URL.Host != c.host {
		return res, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tries++
	if c.fault != nil && res.StatusCode == http.StatusOK {
		whole, _ := io.ReadAll(res.Body)
		res.Body = &faultyBody{whole, *c.fault, 0, r.Context()}
	}
	return res, nil
}

type faultyBody struct {
	whole []byte
	fault
	sent int
	ctx  context.Context
}

func (b *faultyBody) Close() error { return nil }

func (b *faultyBody) Read(p []byte) (int, error) {
	switch n := copy(p, b.whole[min(b.sent, len(b.whole)):min(b.first, len(b.whole))]); {
	case n > 0:
		b.sent += n
		return n, nil
	case b.end != nil && b.size == 0:
		return 0, b.end
	}
	pause := (<-chan time.Time)(nil)
	if b.size > 0 {
		pause = time.After(b.pause)
	}
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-pause:
	}
	b.first += b.size
	if b.first > len(b.whole) {
		b.first = len(b.whole)
	}
	n := copy(p, b.whole[b.sent:b.first])
	b.sent += n
	if b.sent == len(b.whole) && b.end != nil {
		return n, b.end
	}
	return n, nil
}

// faulty returns two nodes of which the second one gets bodies of n bytes from the first one with a fault, and its log.
func faulty(t *testing.T, n int, how *fault) (*faultyCache, []*node, *lockedBuffer) {
	w := newWorld()
	w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "max-age=100000")
		fmt.Fprint(rw, wholeBody(r.URL.Path, n))
	})
	c := &faultyCache{world: w, host: "cache-n0", fault: how}
	log := new(lockedBuffer)
	list := nodes(t, w, names(2), func(name string, o *siblings.Options) {
		if name == "n1" {
			o.HTTP, o.Log = c, slog.New(slog.NewTextHandler(log, nil))
		}
	})
	return c, list, log
}

func wholeBody(path string, n int) string { return path + strings.Repeat("x", n-len(path)) }

// fetch requests a path through the transport of a node, as a cache does, and returns what arrives before the error.
func (n *node) fetch(t *testing.T, path string) (string, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://origin"+path, nil)
	r.RequestURI = ""
	res, err := n.Transport(n.world).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// A sibling whose bodies break off, stop or crawl is suspended, counted and logged, and is no hit. If nothing was passed on, the answer is the
// origin's, no more than two times the patience later.
func TestBrokenBodies(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		bytes int
		fault
		begun bool // a part is passed on before the fault
	}{
		{"nothing, then the end", 6000, fault{end: io.ErrUnexpectedEOF}, false},
		{"headers only", 6000, fault{}, false},
		{"short of its length", 6000, fault{first: 10, end: io.ErrUnexpectedEOF}, false},
		{"10 bytes, then silence", 6000, fault{first: 10}, false},
		{"all but one byte, then silence", 6000, fault{first: 5999}, false},
		{"a bad chunk", 20_000, fault{first: 10_000, end: broken}, false},
		{"a byte every 30 ms", 6000, fault{first: 1, size: 1, pause: 30 * time.Millisecond, end: io.EOF}, false},
		{"a byte every 300 ms", 6000, fault{first: 1, size: 1, pause: 300 * time.Millisecond, end: io.EOF}, false},
		{"breaks off late", 100_000, fault{first: 50_000, end: io.ErrUnexpectedEOF}, true},
		{"stops late", 100_000, fault{first: 50_000}, true},
		{"crawls late", 100_000, fault{first: 50_000, size: 1, pause: 300 * time.Millisecond, end: io.EOF}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, n, log := faulty(t, c.bytes, &c.fault)
				for i := range 12 {
					n[0].get(t, fmt.Sprintf("/%d", i))
				}
				settle()
				var fails int
				for i := range 12 {
					began := time.Now()
					body, err := n[1].fetch(t, fmt.Sprintf("/%d", i))
					took := time.Since(began)
					switch {
					case err != nil && !c.begun:
						t.Errorf("%d: %d bytes, %v, want the answer of the origin", i, len(body), err)
					case err != nil:
						fails++
						if took > 11*time.Second {
							t.Errorf("%d: it fails after %v", i, took)
						}
					case body != wholeBody(fmt.Sprintf("/%d", i), c.bytes):
						t.Errorf("%d: %d bytes of another body", i, len(body))
					case took > 80*time.Millisecond:
						t.Errorf("%d took %v", i, took)
					}
				}
				s := n[1].Status()
				if p := s.Peers[0]; s.Hits != 0 || p.Hits != 0 || p.Failed == 0 || p.Failed != uint64(w.tries) || !strings.HasPrefix(p.Problem, "suspended: ") {
					t.Errorf("after %d requests to the sibling: %+v", w.tries, s)
				}
				if c.begun && fails != w.tries || fails > 2 {
					t.Errorf("%d of 12 clients got an error, with %d requests to the sibling", fails, w.tries)
				}
				time.Sleep(2 * time.Second)
				if got := strings.Count(log.String(), "a sibling is not tried"); got != 1 {
					t.Errorf("%d messages, want 1:\n%s", got, log.String())
				}

				// The time until the next attempt doubles, since a head is no success.
				for range 10 {
					time.Sleep(61 * time.Second)
					_, _ = n[1].fetch(t, "/1")
				}
				if retry := n[1].Status().Peers[0].Retry; retry == nil || time.Until(*retry) < 55*time.Second {
					t.Errorf("the next attempt is at %v, want about a minute from now", retry)
				}
				w.mu.Lock()
				w.fault = nil
				w.mu.Unlock()
				time.Sleep(61 * time.Second)
				if body, err := n[1].fetch(t, "/2"); err != nil || len(body) != c.bytes {
					t.Errorf("%d bytes, %v", len(body), err)
				}
				if s := n[1].Status(); s.Hits != 1 || s.Peers[0].Hits != 1 || s.Peers[0].Problem != "" {
					t.Errorf("the sibling works again, and the status is %+v", s)
				}
			})
		})
	}
}

// Siblings on slow links are used: with pauses below the patience at the beginning, and with at least 1 KiB/s.
func TestSlowBodies(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		fault
	}{
		{"fast", 1_000_000, fault{first: 1_000_000, end: io.EOF}},
		{"one packet every 30 ms", 200_000, fault{first: 1400, size: 1400, pause: 30 * time.Millisecond, end: io.EOF}},
		{"two kilobytes per second", 50_000, fault{first: 14_000, size: 20, pause: 10 * time.Millisecond, end: io.EOF}},
		{"a pause of 9 s", 100_000, fault{first: 40_000, size: 60_000, pause: 9 * time.Second, end: io.EOF}},
		{"empty", 0, fault{end: io.EOF}},
		{"as long as what is awaited", 32 << 10, fault{first: 32 << 10, end: io.EOF}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n, _ := faulty(t, max(c.bytes, 2), &c.fault)
				if c.bytes == 0 {
					n[0].world.origin = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("Cache-Control", "max-age=100000") })
				}
				n[0].get(t, "/x")
				settle()
				body, err := n[1].fetch(t, "/x")
				if err != nil || len(body) != c.bytes {
					t.Errorf("%d bytes, %v", len(body), err)
				}
				if s := n[1].Status(); s.Hits != 1 || s.Origin != 0 || s.Peers[0].Hits != 1 || s.Peers[0].Failed != 0 {
					t.Errorf("status %+v, want a hit", s)
				}
			})
		})
	}
}

// A client that goes away is no failure of the sibling, and a trial that it began ends.
func TestAbandonedBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, n, _ := faulty(t, 100_000, &fault{first: 10, end: io.ErrUnexpectedEOF})
		n[0].get(t, "/x")
		settle()
		n[1].fetch(t, "/x") // it is suspended
		w.mu.Lock()
		w.fault = &fault{first: 50_000}
		w.mu.Unlock()
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://origin/x", nil)
		res, err := n[1].Transport(w).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, cancel)
		if _, err := io.Copy(new(bytes.Buffer), res.Body); err == nil {
			t.Error("the body ended")
		}
		res.Body.Close()
		if p := n[1].Status().Peers[0]; p.Failed != 1 {
			t.Errorf("%+v, want one failure", p)
		}
		w.mu.Lock()
		w.fault = nil
		w.mu.Unlock()
		n[1].fetch(t, "/x")
		if p := n[1].Status().Peers[0]; p.Problem != "" || p.Hits != 2 {
			t.Errorf("%+v, want no problem", p)
		}
	})
}

// A body that only the end of its connection ends is not used: it may be a part.
func TestEndOfConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		list := nodes(t, w, names(2), func(name string, o *siblings.Options) {
			if name == "n1" {
				o.HTTP = closing{w}
			}
		})
		list[0].get(t, "/x")
		settle()
		if _, err := list[1].fetch(t, "/x"); err != nil {
			t.Error(err)
		}
		if s := list[1].Status(); s.Hits != 0 || s.Origin != 1 || s.Peers[0].Refused != 1 || s.Peers[0].Failed != 0 {
			t.Errorf("status %+v, want one that is refused", s)
		}
	})
}

// closing makes responses those of a server that closes the connection at their end.
type closing struct{ *world }

func (c closing) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.world.RoundTrip(r)
	if err == nil {
		res.Close, res.ContentLength = true, -1
		res.Header.Del("Content-Length")
	}
	return res, err
}
