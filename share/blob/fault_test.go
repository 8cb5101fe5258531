package blob_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
	shareblob "github.com/umbel-filters/umbel/share/blob"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
	"golang.org/x/mod/sumdb/note"
)

// The size and the number of keys of the filters that are published.
const m, n = 1 << 18, 10_000

// wantVersion fails unless a new subscriber gets exactly a filter.
func wantVersion(t testing.TB, s share.Source, verifier note.Verifier, want umbel.Filter) {
	t.Helper()
	sub := sharetest.Subscriber(t, s, verifier)
	if err := sub.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	sharetest.Arrives(t, sub, want)
}

// Each request of Publish fails in turn, before the server has done anything or after it has. The
// publication remains what it was, until the head is written. The next attempt succeeds.
func TestInterruptedRequests(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after=%v", after), func(t *testing.T) {
			server := newServer(t)
			b := server.bucket(t)
			p, verifier := sharetest.Publisher(t, create(t, b))
			last := sharetest.Set(t, m, 0, n)
			sharetest.Publish(t, p, last)
			failed := 0
			for k := range uint64(100) {
				next := sharetest.Set(t, m, 0, n+100*(k+1))
				var requests atomic.Uint64
				var headWritten atomic.Bool
				server.handle(func(w http.ResponseWriter, r *http.Request) {
					if requests.Add(1) != k+1 {
						server.s3.ServeHTTP(w, r)
						return
					}
					if after {
						headWritten.Store(r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/head"))
						server.s3.ServeHTTP(httptest.NewRecorder(), r)
					}
					panic(http.ErrAbortHandler)
				})
				_, err := p.Publish(t.Context(), next.State())
				server.handler.Store(nil)
				if requests.Load() <= k {
					break // All requests were interrupted once.
				}
				if err != nil {
					failed++
				}
				if err == nil || headWritten.Load() {
					last = next
				}
				wantVersion(t, shareblob.Open(b), verifier, last)
				sharetest.Publish(t, p, next)
				wantVersion(t, shareblob.Open(b), verifier, next)
				last = next
			}
			if failed < 4 {
				t.Errorf("%d attempts failed, want at least 4", failed)
			}
		})
	}
}

// short is a reply that ends after a number of bytes.
type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(b []byte) (int, error) {
	n := min(len(b), s.left)
	s.ResponseWriter.Write(b[:n])
	if s.left -= n; n < len(b) {
		s.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// A subscriber continues a snapshot whose reply ended early, and requests only what it lacks.
func TestShortReplies(t *testing.T) {
	server := newServer(t)
	b := server.bucket(t)
	p, verifier := sharetest.Publisher(t, create(t, b))
	f := sharetest.Set(t, 1<<22, 0, 100_000)
	sharetest.Publish(t, p, f)
	var mu sync.Mutex
	var ranges []string
	server.handle(func(w http.ResponseWriter, r *http.Request) {
		if h := r.Header.Get("Range"); h != "" {
			mu.Lock()
			ranges = append(ranges, h)
			mu.Unlock()
		} else if strings.Contains(r.URL.Path, "/objects/") {
			w = &short{w, 50_000}
		}
		server.s3.ServeHTTP(w, r)
	})
	wantVersion(t, shareblob.Open(b), verifier, f)
	mu.Lock()
	defer mu.Unlock()
	if len(ranges) != 1 || ranges[0] != "bytes=50000-" {
		t.Errorf("ranges %v, want bytes=50000-", ranges)
	}
}

// A bucket that lists the objects of an earlier time does not keep publishers from continuing, and no
// object that subscribers need is removed.
func TestLateLists(t *testing.T) {
	server := newServer(t)
	b := server.bucket(t)
	var mu sync.Mutex
	var lists []*httptest.ResponseRecorder
	server.handle(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Query().Get("list-type") == "" {
			server.s3.ServeHTTP(w, r)
			return
		}
		now := httptest.NewRecorder()
		server.s3.ServeHTTP(now, r)
		mu.Lock()
		lists = append(lists, now)
		// Those of two publishers before: Create and NewPublisher list once each.
		late := lists[max(0, len(lists)-5)]
		mu.Unlock()
		w.Write(late.Body.Bytes())
	})
	signer, verifier := sharetest.Keys(t, "example.org/set")
	running := sharetest.Subscriber(t, shareblob.Open(b), verifier)
	for i := range uint64(6) {
		p, err := share.NewPublisher(t.Context(), share.PublisherOptions{
			Store: create(t, b), Key: share.Key{Signer: signer, Verifier: verifier}, Grace: time.Nanosecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		for j := range uint64(3) {
			f := sharetest.Set(t, m, 1000*i+100*j, n+1000*i+100*j)
			sharetest.Publish(t, p, f)
			if err := running.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			sharetest.Arrives(t, running, f)
			wantVersion(t, shareblob.Open(b), verifier, f)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if got := running.Counters().Resyncs; len(lists) != 12 || got != 0 {
		t.Errorf("%d lists, want 12; %d resyncs", len(lists), got)
	}
}

// Of two publishers on one bucket, the one that did not write last gets an error.
func TestTwoPublishers(t *testing.T) {
	b := openMemory(t)
	signer, verifier := sharetest.Keys(t, "example.org/set")
	var p [2]*share.Publisher
	for i := range p {
		var err error
		p[i], err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: create(t, b), Key: share.Key{Signer: signer, Verifier: verifier}})
		if err != nil {
			t.Fatal(err)
		}
	}
	f := sharetest.Set(t, m, 0, n)
	sharetest.Publish(t, p[0], f)
	if _, err := p[1].Publish(t.Context(), sharetest.Set(t, m, 0, 2*n).State()); !errors.Is(err, share.ErrFork) {
		t.Errorf("the second publisher: %v, want ErrFork", err)
	}
	wantVersion(t, shareblob.Open(b), verifier, f)
}

// Subscribers may read the bucket over HTTP, without a driver.
func TestOverHTTP(t *testing.T) {
	server := newServer(t)
	b := server.bucket(t)
	store := create(t, b)
	c, err := web.NewClient(server.url+"/bucket", web.ClientOptions{Poll: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	sharetest.Publication(t, func(*testing.T) (share.Store, share.Source) { return store, c })
}

// Caches may keep objects, but not the head.
func TestCacheControl(t *testing.T) {
	b := openMemory(t)
	store := create(t, b)
	p, _ := sharetest.Publisher(t, store)
	sharetest.Publish(t, p, sharetest.Set(t, m, 0, n))
	commit(t, store, large)
	all := keys(t, b)
	if len(all) != 4 {
		t.Errorf("keys %v, want a head, a snapshot, an index and a large object", all)
	}
	for _, key := range all {
		want := "public, max-age=31536000, immutable, no-transform"
		if key == share.HeadName {
			want = "no-cache"
		}
		if a, err := b.Attributes(t.Context(), key); err != nil || a.CacheControl != want {
			t.Errorf("%s: Cache-Control %q, %v; want %q", key, a.CacheControl, err, want)
		}
	}
}
