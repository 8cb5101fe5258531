package httpcache

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
)

// A response is used while it is fresh, with its age, and fetched again afterwards.
func TestFreshness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := answering("body", "Cache-Control: max-age=10", "Age: 3", "X-A: 1")
		c := newTestCache(t, o)
		if r := get(c, "/a"); text(r) != "body" || r.Header.Get("Cache-Status") != "umbel; fwd=uri-miss; fwd-status=200; stored" || r.Header.Get("Age") != "3" {
			t.Errorf("the first answer has %v", r.Header)
		}
		synctest.Wait()
		time.Sleep(6 * time.Second)
		r := get(c, "/a")
		if text(r) != "body" || r.Header.Get("Age") != "9" || r.Header.Get("Cache-Status") != "umbel; hit; ttl=1" || r.Header.Get("X-A") != "1" || r.Header.Get("Content-Length") != "4" {
			t.Errorf("the second answer has %v", r.Header)
		}
		time.Sleep(time.Second)
		if r := get(c, "/a"); isHit(r) || o.count() != 2 {
			t.Errorf("after its lifetime it has %v", r.Header)
		}
	})
}

// A stale response is validated, and a 304 updates its fields.
func TestValidation(t *testing.T) {
	for _, validator := range []string{`Etag: "v1"`, "Last-Modified: Thu, 18 Aug 2005 02:01:18 GMT"} {
		t.Run(validator, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				name, value, _ := strings.Cut(validator, ": ")
				o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
					h := w.Header()
					h.Set(name, value)
					h.Set("Cache-Control", "max-age=2")
					h.Set("X-Request", r.Header.Get("X-Request"))
					if r.Header.Get("If-None-Match") == value || r.Header.Get("If-Modified-Since") == value {
						h.Set("Content-Length", "0")
						w.WriteHeader(http.StatusNotModified)
						return
					}
					_, _ = w.Write([]byte("body"))
				}}
				c := newTestCache(t, o)
				get(c, "/a", "X-Request: 1")
				time.Sleep(3 * time.Second)
				r := get(c, "/a", "X-Request: 2")
				if text(r) != "body" || r.Header.Get("Cache-Status") != "umbel; fwd=stale; fwd-status=304" || r.Header.Get("X-Request") != "2" || r.Header.Get("Content-Length") != "4" {
					t.Errorf("the validated answer has %v", r.Header)
				}
				synctest.Wait() // the answer comes before the response is stored
				if r := get(c, "/a", "X-Request: 3"); !isHit(r) || r.Header.Get("X-Request") != "2" || r.Header.Get("Age") != "0" {
					t.Errorf("the answer after it has %v", r.Header)
				}
				time.Sleep(3 * time.Second)
				condition := map[string]string{"Etag": "If-None-Match", "Last-Modified": "If-Modified-Since"}[name]
				if r := get(c, "/a", condition+": "+value); r.StatusCode != http.StatusNotModified || text(r) != "" {
					t.Errorf("a client that has the response gets %v", r)
				}
				if n := c.Stats().Validated.Load(); n != 2 || o.count() != 3 {
					t.Errorf("%d validations and %d requests, want 2 and 3", n, o.count())
				}
			})
		})
	}
}

// A 304 with another strong tag confirms something else (RFC 9111, section 4.3.4).
func TestOtherTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=1")
			w.Header().Set("Etag", `"new"`)
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			if r.Header.Get("X-First") != "" {
				w.Header().Set("Etag", `"old"`)
			}
			_, _ = w.Write([]byte(w.Header().Get("Etag")))
		}}
		c := newTestCache(t, o)
		get(c, "/a", "X-First: 1")
		time.Sleep(2 * time.Second)
		if r := get(c, "/a"); text(r) != `"new"` || o.count() != 3 {
			t.Errorf("got %v after %d requests", r.Header, o.count())
		}
	})
}

func TestStaleWhileRevalidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := answering("body", "Cache-Control: max-age=1, stale-while-revalidate=10")
		c := newTestCache(t, o)
		get(c, "/a")
		time.Sleep(5 * time.Second)
		if r := get(c, "/a"); !isHit(r) || r.Header.Get("Age") != "5" {
			t.Errorf("within the time it has %v", r.Header)
		}
		synctest.Wait()
		if r := get(c, "/a"); r.Header.Get("Age") != "0" || o.count() != 2 {
			t.Errorf("after the validation it has %v", r.Header)
		}
		time.Sleep(12 * time.Second)
		if r := get(c, "/a"); isHit(r) {
			t.Errorf("after the time it has %v", r.Header)
		}
	})
}

// What is answered while the origin fails, by the directives of the response.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		control     string
		status      int // of the origin, 0 if it is unreachable
		after       time.Duration
		want        int
		staleAnswer bool
	}{
		{"max-age=1, stale-if-error=60", 503, 30 * time.Second, 200, true},
		{"max-age=1, stale-if-error=60", 503, 90 * time.Second, 503, false},
		{"max-age=1, stale-if-error=60", 404, 30 * time.Second, 404, false},
		{"max-age=1, stale-if-error=60", 0, 90 * time.Second, 502, false},
		{"max-age=1", 503, 2 * time.Second, 503, false},
		{"max-age=1", 0, 30 * time.Second, 200, true},
		{"max-age=1", 0, 90 * time.Second, 502, false},
		{"max-age=1, must-revalidate", 0, 2 * time.Second, 502, false},
		{"max-age=1, proxy-revalidate", 0, 2 * time.Second, 502, false},
		{"max-age=1, s-maxage=1", 0, 2 * time.Second, 502, false},
		{"max-age=1, no-cache", 0, 2 * time.Second, 502, false},
	} {
		t.Run(c.control, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fails := false
				o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
					switch {
					case fails && c.status == 0:
						unreachable(w, errors.New("no route"))
					case fails:
						w.WriteHeader(c.status)
					default:
						w.Header().Set("Cache-Control", c.control)
						w.Header().Set("Etag", `"v"`)
						_, _ = w.Write([]byte("body"))
					}
				}}
				cache := newTestCache(t, o, func(o *Options) { o.Disconnected = time.Minute })
				get(cache, "/a")
				time.Sleep(c.after)
				fails = true
				r := get(cache, "/a")
				if r.StatusCode != c.want || (text(r) == "body") != c.staleAnswer {
					t.Errorf("status %d, want %d; %v", r.StatusCode, c.want, r.Header)
				}
				if c.want >= 500 && c.status == 0 && r.Header.Get("Cache-Control") != "no-store" {
					t.Error("other caches may store the error")
				}
			})
		})
	}
}

// Directives of requests.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := answering("body", "Cache-Control: max-age=100", `Etag: "v"`)
		c := newTestCache(t, o)
		if r := get(c, "/a", "Cache-Control: only-if-cached"); r.StatusCode != http.StatusGatewayTimeout || o.count() != 0 {
			t.Errorf("only-if-cached: status %d after %d requests", r.StatusCode, o.count())
		}
		get(c, "/a")
		time.Sleep(20 * time.Second)
		for field, hit := range map[string]bool{
			"Cache-Control: only-if-cached": true, "Cache-Control: max-age=21": true, "Cache-Control: max-age=19": false, "Cache-Control: no-cache": false,
			"Pragma: no-cache": false, "Cache-Control: min-fresh=90": false, "Cache-Control: min-fresh=70": true, "Cookie: a=b": true,
		} {
			get(c, "/a", "Cache-Control: no-cache")
			time.Sleep(20 * time.Second)
			if r := get(c, "/a", field); isHit(r) != hit {
				t.Errorf("%s: %v", field, r.Header)
			}
		}
		time.Sleep(110 * time.Second)
		if r := get(c, "/a", "Cache-Control: max-stale=60"); !isHit(r) {
			t.Errorf("max-stale: %v", r.Header)
		}
		if r := get(c, "/a", "Cache-Control: only-if-cached"); r.StatusCode != http.StatusGatewayTimeout {
			t.Errorf("only-if-cached for a stale response: status %d", r.StatusCode)
		}
		get(c, "/b", "Cache-Control: no-store")
		if r := get(c, "/b", "Cache-Control: only-if-cached"); r.StatusCode != http.StatusGatewayTimeout {
			t.Error("the response to a request with no-store is stored")
		}
	})
}

func TestHeadRangesAndConditions(t *testing.T) {
	o := answering("0123456789", "Cache-Control: max-age=100", `Etag: "v"`, "Content-Type: text/x")
	c := newTestCache(t, o)
	get(c, "/a")
	for _, k := range []struct {
		method string
		fields []string
		status int
		body   string
		length string
	}{
		{"GET", nil, 200, "0123456789", "10"},
		{"HEAD", nil, 200, "", "10"},
		{"HEAD", []string{"Range: bytes=2-4"}, 200, "", "10"},
		{"GET", []string{"Range: bytes=2-4"}, 206, "234", "3"},
		{"GET", []string{"Range: bytes=-1"}, 206, "9", "1"},
		{"GET", []string{"Range: bytes=10-"}, 416, "", "0"},
		{"GET", []string{"Range: bytes=0-1,3-4"}, 200, "0123456789", "10"},
		{"GET", []string{"Range: bytes=2-4", `If-Range: "v"`}, 206, "234", "3"},
		{"GET", []string{"Range: bytes=2-4", `If-Range: "w"`}, 200, "0123456789", "10"},
		{"GET", []string{`If-None-Match: "x", W/"v"`}, 304, "", ""},
		{"GET", []string{`If-None-Match: "x"`, "Range: bytes=1-1"}, 206, "1", "1"},
	} {
		r := do(c, httptest.NewRequest(k.method, "/a", nil), k.fields...)
		if r.StatusCode != k.status || text(r) != k.body || r.Header.Get("Content-Length") != k.length || !isHit(r) {
			t.Errorf("%s %q: status %d, %v", k.method, k.fields, r.StatusCode, r.Header)
		}
	}
	if o.count() != 1 {
		t.Errorf("%d requests reached the origin, want 1", o.count())
	}
	if r := get(c, "/b", "Range: bytes=0-1"); isHit(r) || o.last().Header.Get("Range") != "bytes=0-1" {
		t.Error("a range of a response that is not stored is not the origin's")
	}
}

// A whole response to a request for a range is stored, and the client gets the range if the length is known before
// the body. A partial response is passed on.
func TestRangeOfTheOrigin(t *testing.T) {
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		switch r.URL.Path {
		case "/part":
			w.Header().Set("Content-Range", "bytes 2-4/10")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("234"))
			return
		case "/known":
			w.Header().Set("Content-Length", "10")
		}
		_, _ = w.Write([]byte("0123456789"))
	}}
	c := newTestCache(t, o)
	for path, want := range map[string]struct {
		status int
		body   string
		stored bool
	}{
		"/known":   {206, "234", true},
		"/unknown": {200, "0123456789", true},
		"/part":    {206, "234", false},
	} {
		r := get(c, path, "Range: bytes=2-4")
		if body := text(r); r.StatusCode != want.status || body != want.body || isHit(r) {
			t.Errorf("%s: status %d, %q, %v", path, r.StatusCode, body, r.Header)
		}
		if stored := strings.HasSuffix(r.Header.Get("Cache-Status"), "; stored"); stored != want.stored {
			t.Errorf("%s: %s", path, r.Header.Get("Cache-Status"))
		}
		if !want.stored {
			continue
		}
		await.True(t, "the response is stored", func() bool { return isHit(get(c, path)) })
		if r := get(c, path, "Range: bytes=8-"); r.StatusCode != 206 || text(r) != "89" || !isHit(r) {
			t.Errorf("%s: a range of the stored response: %d, %v", path, r.StatusCode, r.Header)
		}
	}
	if r := get(c, "/known2", "Range: bytes=10-"); r.StatusCode != 200 || text(r) != "0123456789" {
		t.Errorf("a range behind an answer of unknown length: %d", r.StatusCode)
	}
}

// A proxy that is its own origin gets a request without a host in the end.
func TestLoopOfAProxy(t *testing.T) {
	c := newTestCache(t, answering("x"), func(o *Options) { o.Origin, o.Pseudonym = nil, "umbel-1" })
	if r := get(c, "/", "Via: 1.1 umbel-1"); r.StatusCode != http.StatusLoopDetected {
		t.Errorf("status %d, want %d", r.StatusCode, http.StatusLoopDetected)
	}
	if r := get(c, "/"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("without Via: status %d", r.StatusCode)
	}
}

// Each variant is stored, the newest are kept, and a variant does not replace another.
func TestVary(t *testing.T) {
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		w.Header().Set("Vary", "Foo")
		_, _ = w.Write([]byte(r.Header.Get("Foo")))
	}}
	c := newTestCache(t, o)
	for _, foo := range []string{"1", "2", "1", "2"} {
		if r := get(c, "/a", "Foo: "+foo); text(r) != foo {
			t.Errorf("Foo: %s gets another variant", foo)
		}
	}
	if o.count() != 2 {
		t.Errorf("%d requests, want 2", o.count())
	}
	if r := get(c, "/a"); !strings.Contains(r.Header.Get("Cache-Status"), "fwd=vary-miss") {
		t.Errorf("without the field: %v", r.Header)
	}
	for i := range 2 * maxVariants {
		get(c, "/a", "Foo: x"+strings.Repeat("y", i))
	}
	if r, _ := c.index.cache.GetIfPresent("http://origin.example/a"); len(r.variants) != maxVariants {
		t.Errorf("%d variants, want %d", len(r.variants), maxVariants)
	}
}

// Of several responses that a request selects the one with the latest date is used (RFC 9111, section 4), whenever it was stored.
func TestMostRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Cache-Control", "max-age=100")
			h.Set("Vary", r.Header.Get("X-Vary"))
			h.Set("Date", time.Now().Add(-time.Duration(len(r.Header["X-Old"]))*time.Minute).UTC().Format(http.TimeFormat))
			_, _ = w.Write([]byte(h.Get("Vary")))
		}}
		c := newTestCache(t, o)
		get(c, "/a", "X-Vary: Foo", "Foo: 1")
		get(c, "/a", "X-Vary: Bar", "Bar: 1", "X-Old: 1")
		synctest.Wait()
		for fields, want := range map[string]string{"Foo: 1": "Foo", "Bar: 1": "Bar", "Foo: 1, Bar: 1": "Foo"} {
			if r := get(c, "/a", strings.Split(fields, ", ")...); !isHit(r) || text(r) != want {
				t.Errorf("%s: %v, want Vary: %s", fields, r.Header, want)
			}
		}
	})
}

// The request of a client with no-store does not validate a stale response in the background: the answer must not be stored.
func TestStaleWhileRevalidateWithNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := answering("body", "Cache-Control: max-age=1, stale-while-revalidate=100")
		c := newTestCache(t, o)
		get(c, "/a")
		time.Sleep(2 * time.Second)
		if r := get(c, "/a", "Cache-Control: no-store"); isHit(r) || o.count() != 2 {
			t.Errorf("%d requests, want 2; %v", o.count(), r.Header)
		}
		if r := get(c, "/a", "Cache-Control: max-stale=100, only-if-cached"); r.Header.Get("Age") != "2" {
			t.Errorf("the next client: %v", r.Header)
		}
		synctest.Wait()
		if r := o.last(); o.count() != 2 {
			t.Errorf("%d requests, want 2; %v", o.count(), r.Header)
		}
	})
}

// Unsafe methods remove what they may have changed, of the same origin only (RFC 9111, section 4.4).
func TestInvalidation(t *testing.T) {
	status := http.StatusOK
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Location", "http://origin.example:80/location?x")
			w.Header().Set("Content-Location", "content")
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Cache-Control", "max-age=100")
	}}
	c := newTestCache(t, o)
	fill := func() {
		for _, path := range []string{"/a", "/location?x", "/content", "/other"} {
			get(c, path)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "M-SEARCH"} {
		status = http.StatusInternalServerError
		fill()
		do(c, httptest.NewRequest(method, "/a", nil))
		if r := get(c, "/a"); !isHit(r) {
			t.Errorf("a failed %s has removed the response", method)
		}
		status = http.StatusNoContent
		do(c, httptest.NewRequest(method, "/a", nil))
		for path, hit := range map[string]bool{"/a": false, "/location?x": false, "/content": false, "/other": true} {
			if r := get(c, path); isHit(r) != hit {
				t.Errorf("after %s, %s: %v", method, path, r.Header)
			}
		}
	}
}

// Fields of one connection do not pass, in both directions.
func TestHopByHop(t *testing.T) {
	o := answering("body", "Cache-Control: max-age=100", "Connection: X-Hop, Cache-Control", "X-Hop: 1", "Keep-Alive: 1", "Proxy-Authenticate: x", "X-End: 1", "Via: 1.0 other")
	c := newTestCache(t, o)
	r := get(c, "/a", "Connection: X-Mine, close", "X-Mine: 1", "Te: trailers", "Proxy-Authorization: x", "X-End: 2", "Via: 1.0 first")
	for _, r := range []*http.Response{r, get(c, "/a")} {
		if h := r.Header; h.Get("X-Hop") != "" || h.Get("Keep-Alive") != "" || h.Get("Proxy-Authenticate") != "" || h.Get("Connection") != "" || h.Get("X-End") != "1" || h.Get("Cache-Control") == "" {
			t.Errorf("the client gets %v", h)
		} else if via := strings.Join(h["Via"], ", "); via != "1.0 other, 1.1 umbel" {
			t.Errorf("Via is %q", via)
		}
	}
	if h := o.last().Header; h.Get("X-Mine") != "" || h.Get("Te") != "" || h.Get("Proxy-Authorization") != "" || h.Get("X-End") != "2" || strings.Join(h["Via"], ", ") != "1.0 first, 1.1 umbel" {
		t.Errorf("the origin gets %v", h)
	}
}

func TestLoops(t *testing.T) {
	o := answering("body")
	c := newTestCache(t, o, func(o *Options) { o.Pseudonym = "umbel-1" })
	if r := get(c, "/a", "Via: 1.0 other, 1.1 umbel-1 (comment)"); r.StatusCode != http.StatusLoopDetected || o.count() != 0 {
		t.Errorf("status %d after %d requests", r.StatusCode, o.count())
	}
	if r := get(c, "/a", "Via: 1.1 umbel-12"); r.StatusCode != http.StatusOK {
		t.Errorf("another cache is taken for this one: status %d", r.StatusCode)
	}
}
