package httpcache

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// getDuring is get with a context; the result is nil if the cache breaks the answer off.
func getDuring(ctx context.Context, c *Cache, path string, fields ...string) (r *http.Response) {
	defer func() {
		if recover() == http.ErrAbortHandler {
			r = nil
		}
	}()
	return do(c, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil), fields...)
}

// Clients that want the same response wait for one request. A leader that goes away does not end it.
func TestCollapsing(t *testing.T) {
	for _, abort := range []bool{false, true} {
		t.Run("leader aborts "+strconv.FormatBool(abort), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep(time.Second)
					w.Header().Set("Cache-Control", "max-age=100")
					_, _ = w.Write([]byte("first "))
					time.Sleep(time.Second)
					_, _ = w.Write([]byte("second"))
				}}
				c := newTestCache(t, o)
				leader, cancel := context.WithCancel(t.Context())
				defer cancel()
				var clients sync.WaitGroup
				clients.Go(func() { getDuring(leader, c, "/a") })
				synctest.Wait()
				for range 20 {
					clients.Go(func() {
						if r := getDuring(t.Context(), c, "/a"); r == nil || text(r) != "first second" || !strings.HasSuffix(r.Header.Get("Cache-Status"), "; collapsed") {
							t.Errorf("a follower gets %v", r)
						}
					})
				}
				time.Sleep(500 * time.Millisecond)
				if abort {
					cancel()
				}
				clients.Wait()
				if r := get(c, "/a"); !isHit(r) || o.count() != 1 {
					t.Errorf("%d requests, want 1; %v", o.count(), r.Header)
				}
			})
		})
	}
}

// The request is cancelled when no client waits any more and no answer has come, and the next client sends its own.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		o := &origin{}
		o.handle = func(w http.ResponseWriter, r *http.Request) {
			if o.count() == 1 {
				<-r.Context().Done()
				close(ended)
				return
			}
			w.Header().Set("Cache-Control", "max-age=100")
		}
		c := newTestCache(t, o)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		getDuring(ctx, c, "/a")
		<-ended
		if r := get(c, "/a"); r.StatusCode != http.StatusOK || o.count() != 2 {
			t.Errorf("status %d after %d requests", r.StatusCode, o.count())
		}
	})
}

// Followers read a body while it arrives, and a slow one does not slow down the others.
func TestFollowersStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=100")
			for range 3 {
				_, _ = w.Write([]byte("x"))
				time.Sleep(time.Second)
			}
		}}
		c := newTestCache(t, o)
		begun := time.Now()
		var clients sync.WaitGroup
		for range 3 {
			clients.Go(func() {
				r := httptest.NewRequest(http.MethodGet, "/a", nil)
				w := &timedWriter{ResponseRecorder: httptest.NewRecorder(), begun: begun}
				c.ServeHTTP(w, r)
				if want := []time.Duration{0, time.Second, 2 * time.Second}; len(w.times) != 3 || w.times[0] != want[0] || w.times[2] != want[2] {
					t.Errorf("bytes were sent after %v, want %v", w.times, want)
				}
			})
		}
		clients.Wait()
	})
}

// timedWriter notes when bytes are sent.
type timedWriter struct {
	*httptest.ResponseRecorder
	begun time.Time
	times []time.Duration
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.times = append(w.times, time.Since(w.begun))
	return w.ResponseRecorder.Write(p)
}

// Clients do not wait for each other if the response cannot be stored, and after the first time not even for its header.
func TestUncacheableIsNotSerialised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			w.Header().Set("Cache-Control", "private")
			_, _ = w.Write([]byte(r.Header.Get("Cookie")))
		}}
		c := newTestCache(t, o)
		for round, most := range []time.Duration{2 * time.Second, time.Second} {
			begun := time.Now()
			var clients sync.WaitGroup
			for i := range 10 {
				clients.Go(func() {
					cookie := strconv.Itoa(i)
					if r := getDuring(t.Context(), c, "/a", "Cookie: "+cookie); text(r) != cookie {
						t.Errorf("a client gets the response to another one")
					}
				})
			}
			clients.Wait()
			if took := time.Since(begun); took > most {
				t.Errorf("round %d took %v, want at most %v", round, took, most)
			}
		}
		if o.count() != 20 {
			t.Errorf("%d requests, want 20", o.count())
		}
	})
}

// A follower for whose fields the response is not meant sends its own request.
func TestFollowersOfAnotherVariant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			w.Header().Set("Cache-Control", "max-age=100")
			w.Header().Set("Vary", "Foo")
			_, _ = w.Write([]byte(r.Header.Get("Foo")))
		}}
		c := newTestCache(t, o)
		var clients sync.WaitGroup
		for i := range 12 {
			clients.Go(func() {
				foo := strconv.Itoa(i % 3)
				if r := getDuring(t.Context(), c, "/a", "Foo: "+foo); text(r) != foo {
					t.Errorf("Foo: %s gets %v", foo, r.Header)
				}
			})
		}
		clients.Wait()
		if o.count() != 3 {
			t.Errorf("%d requests, want one per variant", o.count())
		}
	})
}

// Requests with credentials are never answered together with others.
func TestAuthorizedIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			w.Header().Set("Cache-Control", "max-age=100")
			_, _ = w.Write([]byte(r.Header.Get("Authorization")))
		}}
		c := newTestCache(t, o)
		var clients sync.WaitGroup
		for _, who := range []string{"alice", "bob", "carol"} {
			clients.Go(func() {
				if r := getDuring(t.Context(), c, "/a", "Authorization: "+who); text(r) != who {
					t.Errorf("%s gets the response of another user", who)
				}
			})
		}
		clients.Wait()
		if r := get(c, "/a"); text(r) != "" {
			t.Error("everyone gets the response of a user")
		}
	})
}

// What an unsafe request has changed is not stored by a request that was sent before.
func TestInvalidationDuringRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.Header().Set("Cache-Control", "max-age=100")
				_, _ = w.Write([]byte("old"))
				time.Sleep(2 * time.Second)
			}
		}}
		c := newTestCache(t, o)
		var client sync.WaitGroup
		client.Go(func() { get(c, "/a") })
		time.Sleep(time.Second)
		do(c, httptest.NewRequest(http.MethodPost, "/a", nil))
		client.Wait()
		if r := get(c, "/a"); isHit(r) {
			t.Error("the response from before the change is stored")
		}
	})
}

// A body that ends early is not stored, and clients notice it.
func TestShortBody(t *testing.T) {
	for _, directory := range []bool{false, true} {
		o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=100")
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("short"))
			panic(io.ErrUnexpectedEOF)
		}}
		c := newTestCache(t, o, func(o *Options) {
			if directory {
				o.Directory = t.TempDir()
			}
		})
		if r := getDuring(t.Context(), c, "/a"); r != nil {
			t.Errorf("the client gets a complete answer: %v", r.Header)
		}
		if r := get(c, "/a", "Cache-Control: only-if-cached"); r.StatusCode != http.StatusGatewayTimeout || c.Stats().Incomplete.Load() != 1 {
			t.Error("the incomplete body is stored")
		}
	}
}

// A body that turns out to be too long for the store passes through a buffer of fixed size.
func TestTooLong(t *testing.T) {
	const size = 5 << 20
	o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		for range size >> 10 {
			_, _ = w.Write(make([]byte, 1<<10))
		}
	}}
	c := newTestCache(t, o)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			if n := len(text(getDuring(t.Context(), c, "/a"))); n != size {
				t.Errorf("%d bytes, want %d", n, size)
			}
		})
	}
	clients.Wait()
	if c.Keys() != 0 {
		t.Error("the body is stored")
	}
}

// Interim answers reach the client that causes the request, and are not stored.
func TestInterim(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.Header().Set("Cache-Control", "max-age=100")
		w.WriteHeader(http.StatusOK)
	}))
	defer s.Close()
	transport := NewTransport(nil)
	defer transport.CloseIdleConnections()
	u := *httptest.NewRequest(http.MethodGet, s.URL, nil).URL
	c := newTestCache(t, nil, func(o *Options) { o.Origin, o.Upstream = &u, transport })
	for _, want := range []int{1, 0} {
		w := &interimWriter{ResponseRecorder: httptest.NewRecorder()}
		c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/a", nil))
		if w.count != want || w.Code != http.StatusOK || w.Header().Get("Link") != "" {
			t.Errorf("%d interim answers, want %d; %v", w.count, want, w.Header())
		}
	}
}

type interimWriter struct {
	*httptest.ResponseRecorder
	count int
}

func (w *interimWriter) WriteHeader(status int) {
	if status < 200 {
		if w.Header().Get("Link") == "</a.css>" {
			w.count++
		}
		return
	}
	w.ResponseRecorder.WriteHeader(status)
}

// A client that looks into the store before a response is stored, and joins afterwards, does not send a request of its
// own.
func TestLanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := answering("body", "Cache-Control: max-age=100")
		c := newTestCache(t, o)
		r := httptest.NewRequest(http.MethodGet, "/a", nil)
		target, err := c.target(r)
		if err != nil {
			t.Fatal(err)
		}
		get(c, "/a")
		w := httptest.NewRecorder()
		c.forward(w, r, target, &noDirectives, nil, nil) // what the client does after it has found nothing
		if w.Body.String() != "body" || !isHit(w.Result()) || o.count() != 1 {
			t.Errorf("%d requests, want 1; %v", o.count(), w.Header())
		}
	})
}
