package siblings_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/siblings"
)

// The names of these tests are those of what goes wrong between caches that use each other.

// 200 objects that one cache holds come from it, and an object that was evicted costs one 504.
func TestHits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(2), nil)
		for i := range 200 {
			n[0].get(t, fmt.Sprintf("/%d", i))
		}
		settle()
		for i := range 200 {
			path := fmt.Sprintf("/%d", i)
			res := n[1].get(t, path)
			if body, _ := io.ReadAll(res.Body); string(body) != "origin "+path || w.originRequests(path) != 1 {
				t.Fatalf("%s: %q, %d requests to the origin, want 1", path, body, w.originRequests(path))
			}
		}
		if s := n[1].Status(); s.Hits != 200 || s.Origin != 0 || s.Peers[0].Hits != 200 {
			t.Errorf("status %+v, want 200 hits", s)
		}
	})
}

// Trap 1: a cache that ignores Age, sends none and writes a new Date makes a response fresh again at each hop.
func TestAgeOverFiveHops(t *testing.T) {
	for _, plain := range []bool{true, false} {
		t.Run(fmt.Sprint("plain=", plain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					rw.Header().Set("Cache-Control", "max-age=10")
					fmt.Fprint(rw, time.Now().UnixNano())
				})
				list := names(6)
				n := nodes(t, w, list, func(name string, o *siblings.Options) {
					o.Period = 100 * time.Millisecond
					if plain {
						o.Freshness = siblings.FreshnessAccel
					}
					// A chain: each node has the one before it as its only peer.
					for i, p := range o.Peers {
						if fmt.Sprintf("n%d", atoi(name)-1) == p.Name {
							o.Peers = o.Peers[i : i+1]
							return
						}
					}
					o.Peers = nil
				})
				for _, x := range n {
					x.cache.plain = plain
				}
				settle()
				hops := make([]uint64, len(n))
				for range 30 {
					for i, x := range n { // the response goes from node to node, a second at each
						x.get(t, "/x")
						hops[i] = x.Status().Hits
						time.Sleep(time.Second)
					}
					for range 40 {
						for i, x := range n {
							if !x.cache.fresh("/x") {
								continue
							}
							body, _ := io.ReadAll(x.get(t, "/x").Body)
							var made int64
							fmt.Sscan(string(body), &made)
							if age := time.Since(time.Unix(0, made)); age > 10*time.Second {
								t.Fatalf("node %d serves a response that is %v old", i, age)
							}
						}
						time.Sleep(137 * time.Millisecond)
					}
				}
				if slices.Min(hops[1:]) < 20 {
					t.Errorf("%d responses came from siblings; the test needs more", hops)
				}
			})
		})
	}
}

func atoi(name string) (n int) {
	fmt.Sscanf(name, "n%d", &n)
	return n
}

// Trap 2: a revalidation passes through the same place; the answer must be the origin's.
func TestOriginOnly(t *testing.T) {
	for _, headers := range [][2]string{
		{"If-None-Match", `"1"`}, {"If-Modified-Since", "Mon, 02 Jan 2006 15:04:05 GMT"}, {"Range", "bytes=0-1"},
		{"Authorization", "Basic x"}, {"Cache-Control", "no-cache"}, {"Cache-Control", "max-age=0"}, {"Pragma", "no-cache"}, {"Cookie", "a=b"},
	} {
		t.Run(headers[0]+" "+headers[1], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				n := nodes(t, w, names(2), nil)
				n[0].get(t, "/x")
				settle()
				n[1].get(t, "/x", headers[0], headers[1])
				if got := w.originRequests("/x"); got != 2 {
					t.Errorf("the origin got %d requests, want 2", got)
				}
				if s := n[1].Status(); s.Hits != 0 || s.Peers[0].Absent != 0 {
					t.Errorf("a sibling was tried: %+v", s)
				}
			})
		})
	}
}

// Trap 3: caches that ignore only-if-cached forward the request; no 504 may be stored, and an evicted object is
// published no longer.
func TestEvicted(t *testing.T) {
	for _, obeys := range []bool{false, true} {
		t.Run(fmt.Sprint("obeys=", obeys), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				n := nodes(t, w, names(3), nil)
				for _, x := range n {
					x.cache.obeys = obeys
				}
				n[0].get(t, "/x")
				settle()
				n[0].cache.evict("/x")
				if res := n[1].get(t, "/x"); res.StatusCode != http.StatusOK {
					t.Fatalf("status %d", res.StatusCode)
				}
				if s := n[1].Status(); s.Peers[0].Absent != 1 {
					t.Errorf("absent %d, want 1", s.Peers[0].Absent)
				}
				if n[0].cache.holds("/x") {
					t.Error("the cache of the sibling stored a response for a sibling's request")
				}
				synctest.Wait()
				if n[0].Held().Len() != 0 {
					t.Error("the evicted response is still published")
				}
				settle()
				r := httptest.NewRequest(http.MethodGet, "http://origin/x", nil)
				if got := n[2].Holds(r); len(got) != 1 || got[0].Name != "n1" {
					t.Errorf("holders %+v, want n1 only", got)
				}
				n[0].get(t, "/x") // from n1
				if got := w.originRequests("/x"); got != 2 {
					t.Errorf("the origin got %d requests, want 2", got)
				}
			})
		})
	}
}

// Trap 4: two siblings that both miss don't try each other for ever, and no third one is tried for them.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(3), nil)
		for _, x := range n[:2] { // each thinks that it holds the response
			r := httptest.NewRequest(http.MethodGet, "http://origin/x", nil)
			x.Added(x.Key(r), time.Now().Add(time.Hour))
		}
		settle()
		n[2].get(t, "/x")
		if s := n[2].Status(); s.Peers[0].Absent+s.Peers[1].Absent != 2 {
			t.Errorf("status %+v, want two 504s", s)
		}
		for _, x := range n[:2] {
			if s := x.Status(); s.Hops != 1 || s.Origin != 0 || s.Hits != 0 {
				t.Errorf("a sibling tried another one: %+v", s)
			}
		}
	})
}

// Trap 5: a response that another request selected is not used.
func TestVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=100")
			rw.Header().Set("Vary", "Accept-Language")
			fmt.Fprint(rw, r.Header.Get("Accept-Language"))
		})
		n := nodes(t, w, names(2), nil)
		n[0].get(t, "/x", "Accept-Language", "de")
		settle()
		for _, language := range []string{"fr", "de"} {
			res := n[1].get(t, "/x", "Accept-Language", language)
			if body, _ := io.ReadAll(res.Body); string(body) != language {
				t.Errorf("%s: %q", language, body)
			}
		}
		if s := n[1].Status(); s.Hits != 1 || w.originRequests("/x") != 2 {
			t.Errorf("%d hits and %d requests to the origin, want 1 and 2", s.Hits, w.originRequests("/x"))
		}
		// A cache that returns a variant without a look at the request.
		n[1].cache.evict("/x")
		w.mu.Lock()
		w.hosts["cache-n0"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			s := n[0].cache.stored["/x"]
			for name, values := range s.header {
				rw.Header()[name] = values
			}
			rw.Write(s.body)
		})
		w.mu.Unlock()
		res := n[1].get(t, "/x", "Accept-Language", "fr")
		if body, _ := io.ReadAll(res.Body); string(body) != "fr" {
			t.Errorf("got the variant %q, want fr", body)
		}
	})
}

// Trap 6: a key does not depend on how a cache writes the host, and a fragment is no part of it.
func TestKey(t *testing.T) {
	for in, want := range map[string]siblings.Key{
		"HTTP://Example.ORG:80/A%2fb?x=1&y#part": "http://example.org/A%2fb?x=1&y",
		"https://example.org:443":                "https://example.org/",
		"https://example.org:80/":                "https://example.org:80/",
		"http://[::1]:80/x":                      "http://[::1]/x",
		"http://example.org/?":                   "http://example.org/?",
	} {
		if got := siblings.KeyOf(address(in), ""); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	a := http.Header{"Accept-Encoding": {"gzip, deflate, br;q=0.9"}}
	b := http.Header{"Accept-Encoding": {"br, gzip"}}
	k := siblings.Key("http://example.org/")
	if k.Variant([]string{"accept-encoding"}, a) != k.Variant([]string{"Accept-Encoding"}, b) {
		t.Error("two ways to accept br are two variants")
	}
	if k.Variant([]string{"Accept-Encoding"}, a) == k.Variant([]string{"Accept-Encoding"}, nil) {
		t.Error("br and identity are one variant")
	}
}

// Trap 7: what expires is published no longer, although no cache reports it.
func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=20")
		})
		n := nodes(t, w, names(2), nil)
		n[0].get(t, "/x")
		settle()
		r := httptest.NewRequest(http.MethodGet, "http://origin/x", nil)
		if len(n[1].Holds(r)) != 1 {
			t.Fatal("it is not published")
		}
		time.Sleep(18 * time.Second)
		synctest.Wait()
		if len(n[1].Holds(r)) != 0 || n[0].Held().Len() != 0 {
			t.Error("it is published although it expired")
		}
	})
}

// What a cache removes since it is not used, is published for Options.Keep at most.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(1), func(_ string, o *siblings.Options) { o.Keep = 10 * time.Second })
		n[0].get(t, "/x")
		for _, want := range []int{1, 0} {
			time.Sleep(7 * time.Second)
			if got := n[0].Held().Len(); got != want {
				t.Errorf("%d keys are published, want %d", got, want)
			}
		}
	})
}

// Trap 8: a new version of a response is no second addition, so that its removal removes it.
func TestReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(2), nil)
		for range 5 {
			n[0].get(t, "/x", "Cache-Control", "no-cache")
		}
		if n[0].Held().Len() != 1 {
			t.Fatalf("%d keys, want 1", n[0].Held().Len())
		}
		settle()
		r := httptest.NewRequest(http.MethodGet, "http://origin/x", nil)
		n[0].Removed(n[0].Key(r))
		settle()
		if len(n[1].Holds(r)) != 0 {
			t.Error("the removed response is published")
		}
	})
}

// Trap 9: what is private or short-lived is not published.
func TestNotPublished(t *testing.T) {
	for name, header := range map[string]http.Header{
		"private":     {"Cache-Control": {"private, max-age=100"}},
		"field":       {"Cache-Control": {`private="Set-Cookie", max-age=100`}},
		"no-store":    {"Cache-Control": {"no-store, max-age=100"}},
		"no-cache":    {"Cache-Control": {"no-cache, max-age=100"}},
		"cookie":      {"Cache-Control": {"max-age=100"}, "Set-Cookie": {"a=b"}},
		"short":       {"Cache-Control": {"max-age=2"}},
		"old":         {"Cache-Control": {"max-age=100"}, "Age": {"99"}},
		"vary":        {"Cache-Control": {"max-age=100"}, "Vary": {"*"}},
		"unstated":    {"Last-Modified": {"Mon, 02 Jan 2006 15:04:05 GMT"}},
		"s-maxage":    {"Cache-Control": {"max-age=100, s-maxage=0"}},
		"conflict":    {"Cache-Control": {"max-age=100, max-age=1"}},
		"no number":   {"Cache-Control": {"max-age=1h"}},
		"deny":        {"Cache-Control": {"max-age=100"}, "X-Path": {"/x?token=1"}},
		"in the past": {"Expires": {"Thu, 01 Jan 1970 00:00:00 GMT"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					for name, values := range header {
						rw.Header()[name] = values
					}
				})
				n := nodes(t, w, names(1), func(_ string, o *siblings.Options) { o.Deny = siblings.DenyQuery([]string{"token"}) })
				path := "/x"
				if p := header.Get("X-Path"); p != "" {
					path = p
				}
				n[0].get(t, path)
				if got := n[0].Held().Len(); got != 0 {
					t.Errorf("%d keys are published", got)
				}
			})
		})
	}
}

// Trap 10: a large body is passed on as it arrives; a short one is not published.
func TestStreamed(t *testing.T) {
	w := newWorld()
	n := nodes(t, w, names(1), nil)
	reader, writer := io.Pipe()
	origin := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Cache-Control": {"max-age=100"}}, Body: reader, ContentLength: -1, Request: r}, nil
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://origin/large", nil)
	res, err := n[0].Transport(origin).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	go writer.Write([]byte("first"))
	b := make([]byte, 5)
	if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != "first" {
		t.Fatalf("%q, %v", b, err)
	}
	writer.CloseWithError(io.ErrUnexpectedEOF)
	if _, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if n[0].Held().Len() != 0 {
		t.Error("a response that was not complete is published")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Trap 11: a client that goes away doesn't end the request of another one for the same URL.
func TestAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := nodes(t, w, names(2), nil)
		n[0].get(t, "/x")
		settle()
		w.set("cache-n0", 30*time.Millisecond)
		first := make(chan error, 1)
		ctx, leave := contextWithTimeout(t, 10*time.Millisecond)
		defer leave()
		go func() {
			res, err := n[1].Transport(w).RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodGet, "http://origin/x", nil))
			if err == nil {
				res.Body.Close()
			}
			first <- err
		}()
		res := n[1].get(t, "/x")
		if body, _ := io.ReadAll(res.Body); string(body) != "origin /x" || !strings.Contains(res.Header.Get("Cache-Status"), "hit") {
			t.Errorf("%q %v", body, res.Header)
		}
		if err := <-first; err == nil {
			t.Error("the first request was answered")
		}
		if s := n[1].Status(); s.Hits != 1 || s.Peers[0].Problem != "" {
			t.Errorf("the sibling was suspended: %+v", s)
		}
	})
}
