package siblings_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/siblings"
)

// reporting is a cache that reports what it stores: every response that comes out of the mesh, for the time of its lifetime.
type reporting struct {
	mesh   *siblings.Mesh
	next   http.RoundTripper
	stored map[string][]siblings.Response
}

// store reports that the cache now has these responses for a path.
func (c *reporting) store(path string, list ...siblings.Response) {
	c.mesh.Changed(address("http://www.example.org"+path), c.stored[path], list)
	c.stored[path] = list
}

// fetch requests a path through the mesh and returns the response as the cache stores it.
func (c *reporting) fetch(t *testing.T, path string, headers ...string) siblings.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://www.example.org"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.URL.Host, r.Host = "origin", "www.example.org"
	res, err := c.next.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	return siblings.Response{Header: res.Header, Selected: r.Header, Until: time.Now().Add(100 * time.Second)}
}

// What a cache reports is published, and nothing else: neither what passed through and is not reported, nor what may not be shared.
func TestReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=100")
			switch r.URL.Path {
			case "/private":
				rw.Header().Set("Cache-Control", "private, max-age=100")
			case "/v":
				rw.Header().Set("Vary", "Accept-Language")
			}
		})
		n := nodes(t, w, []string{"n0"}, func(_ string, o *siblings.Options) {
			o.Reported = true
			o.Deny = func(u *url.URL) bool { return u.Path == "/denied" }
		})[0]
		c := &reporting{n.Mesh, n.Transport(w), map[string][]siblings.Response{}}
		held := func(path string) bool { return n.Held().Has(siblings.Key("http://www.example.org" + path)) }
		want := func(n int, when string) {
			t.Helper()
			if got := c.mesh.Held().Len(); got != n {
				t.Errorf("%s: %d keys are published, want %d", when, got, n)
			}
		}
		a := c.fetch(t, "/a")
		want(0, "what passed through and was not reported")
		c.store("/a", a)
		if want(1, "stored"); !held("/a") {
			t.Error("what was stored is not published")
		}
		c.fetch(t, "/a")
		want(1, "requested again, for example to validate it")
		c.store("/a")
		want(0, "removed")

		c.store("/private", c.fetch(t, "/private"))
		c.store("/denied", c.fetch(t, "/denied"))
		c.store("/authorized", c.fetch(t, "/authorized", "Authorization", "Basic eDp5"))
		want(0, "private, denied and authorized responses")

		de, en := c.fetch(t, "/v", "Accept-Language", "de"), c.fetch(t, "/v", "Accept-Language", "en")
		c.store("/v", de)
		c.store("/v", en, de)
		want(3, "two variants and their URL")
		c.store("/v", en)
		want(2, "one variant and its URL")
		short := en
		short.Until = time.Now().Add(time.Second)
		c.store("/v", short)
		want(0, "a version that is fresh for a second only")
	})
}

// A cache that reports answers siblings with the age of now, and with 504 for what it does not hold.
func TestReportedCache(t *testing.T) {
	w := newWorld()
	n := nodes(t, w, []string{"n0"}, func(_ string, o *siblings.Options) { o.Reported = true })[0]
	const stamp = "t=%d, age=0, life=100000, variant=0011223344556677"
	stored := time.Now().Add(-time.Minute)
	h := n.Cache(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Cache-Control"), "only-if-cached") {
			t.Errorf("the store has a request with %v", r.Header)
		}
		if r.URL.Path == "/absent" {
			rw.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		// Stored a minute ago, and validated 7 s ago.
		rw.Header().Set("Cache-Control", "max-age=50")
		rw.Header().Set("Age", "7")
		rw.Header().Set(siblings.StampHeader, fmt.Sprintf(stamp, stored.UnixMilli()))
		if r.URL.Path != "/empty" {
			fmt.Fprint(rw, "body")
		}
	}))
	for path, status := range map[string]int{"/a": 200, "/empty": 200, "/absent": 504} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set(siblings.HopHeader, "n1")
		rec, begun := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(rec, r)
		if rec.Code != status || (rec.Header().Get(siblings.HopHeader) == "example.org/n0") == (status == 200) {
			t.Errorf("%s: status %d, %v", path, rec.Code, rec.Header())
		}
		if status != 200 {
			continue
		}
		var at int64
		var age, life int
		if _, err := fmt.Sscanf(rec.Header().Get(siblings.StampHeader), "t=%d, age=%d, life=%d, variant=0011223344556677", &at, &age, &life); err != nil {
			t.Errorf("%s: stamp %q, %v", path, rec.Header().Get(siblings.StampHeader), err)
		}
		if time.UnixMilli(at).Before(begun.Truncate(time.Millisecond)) || age < 7000 || age > 8000 || life != 50_000 {
			t.Errorf("%s: stamp %q", path, rec.Header().Get(siblings.StampHeader))
		}
	}
}
