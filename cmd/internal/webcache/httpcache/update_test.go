package httpcache

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
)

// validating is an origin that answers with a body and the first fields, and to requests with conditions with a 304 and the
// others.
func validating(first, update []string) *origin {
	return &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		fields := first
		if isConditional(r.Header) {
			fields = update
		}
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			w.Header().Add(name, value)
		}
		time.Sleep(time.Second)
		if isConditional(r.Header) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte("body"))
	}}
}

// stores are the options of both stores.
func stores(t *testing.T) map[string]func(*Options) {
	return map[string]func(*Options){"memory": func(*Options) {}, "disk": func(o *Options) { o.Directory = t.TempDir() }}
}

// Every field of a 304 counts from then on, for the clients that wait for it as well.
func TestUpdatedFields(t *testing.T) {
	first := []string{"Cache-Control: max-age=3", `Etag: "v"`, "Vary: Foo"}
	cases := []struct {
		name   string
		update []string
		shared bool   // a client that waits with the same fields gets the result
		later  string // fields of a request after it
		hit    bool   // it is answered with the updated response
	}{
		{"the same", []string{"Cache-Control: max-age=60"}, true, "Foo: 1", true},
		{"the same, for another variant", []string{"Cache-Control: max-age=60"}, true, "Foo: 2", false},
		{"Vary has a new name", []string{"Cache-Control: max-age=60", "Vary: Foo, Accept-Language"}, false, "Foo: 1", false},
		{"Vary has another name", []string{"Cache-Control: max-age=60", "Vary: Accept-Language"}, false, "Accept-Language: fr", false},
		{"Vary has all names", []string{"Cache-Control: max-age=60", "Vary: *"}, false, "Foo: 1", false},
		{"Vary has no name", []string{"Cache-Control: max-age=60", "Vary: ,"}, true, "Foo: 2", true},
		{"no-store", []string{"Cache-Control: no-store, max-age=60"}, false, "Foo: 1", false},
		{"private", []string{"Cache-Control: private, max-age=60"}, false, "Foo: 1", false},
		{"no-cache", []string{"Cache-Control: no-cache, max-age=60"}, false, "Foo: 1", false},
		{"without max-age", []string{"Cache-Control: public"}, false, "Foo: 1", false},
		{"Expires", []string{"Cache-Control: public", "Expires: Thu, 18 Aug 2050 02:01:18 GMT"}, true, "Foo: 1", true},
		{"Set-Cookie", []string{"Cache-Control: max-age=60", "Set-Cookie: a=b"}, false, "Foo: 1", false},
		{"Age", []string{"Cache-Control: max-age=60", "Age: 70"}, false, "Foo: 1", false},
	}
	for store, option := range stores(t) {
		synctest.Test(t, func(t *testing.T) {
			o := &origin{}
			cache := newTestCache(t, o, option)
			for _, c := range cases {
				path := "/" + url.PathEscape(c.name)
				o.handle = validating(first, append([]string{`Etag: "v"`, "X-Update: 1"}, c.update...)).handle
				get(cache, path, "Foo: 1")
				time.Sleep(4 * time.Second)
				var clients sync.WaitGroup
				for i := range 2 {
					clients.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						r := get(cache, path, "Foo: 1")
						collapsed := strings.HasSuffix(r.Header.Get("Cache-Status"), "; collapsed")
						if text(r) != "body" || collapsed != (i == 1 && c.shared) {
							t.Errorf("%s, %s, client %d: status %d, %v", c.name, store, i, r.StatusCode, r.Header)
						}
					})
				}
				clients.Wait()
				synctest.Wait()
				r := get(cache, path, c.later)
				if hit := isHit(r) && r.Header.Get("X-Update") != ""; hit != c.hit || text(r) != "body" {
					t.Errorf("%s, %s, after it: status %d, %v", c.name, store, r.StatusCode, r.Header)
				}
			}
		})
	}
}

// A 304 can forbid that the response is used while the origin fails.
func TestUpdatedByMustRevalidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := false
		o := validating([]string{"Cache-Control: max-age=1, stale-if-error=60", `Etag: "v"`}, []string{"Cache-Control: max-age=1, must-revalidate", `Etag: "v"`})
		works := o.handle
		o.handle = func(w http.ResponseWriter, r *http.Request) {
			if fails {
				unreachable(w, errors.New("no route"))
				return
			}
			works(w, r)
		}
		c := newTestCache(t, o, func(o *Options) { o.Disconnected = time.Minute })
		get(c, "/a")
		for _, want := range []int{200, 200, 502} {
			time.Sleep(2 * time.Second)
			if r := get(c, "/a"); r.StatusCode != want {
				t.Errorf("status %d, want %d", r.StatusCode, want)
			}
			synctest.Wait()
			fails = o.count() == 3
		}
	})
}

// A 304 updates the response that its validators identify, and no other one (RFC 9111, section 4.3.4).
func TestIdentified(t *testing.T) {
	const old, recent = "Last-Modified: Thu, 18 Aug 2005 02:01:18 GMT", "Last-Modified: Thu, 18 Aug 2011 02:01:18 GMT"
	for _, c := range []struct {
		stored, update []string
		updated        bool
	}{
		{[]string{`Etag: "a"`}, []string{`Etag: "a"`}, true},
		{[]string{`Etag: "a"`}, []string{`Etag: "b"`}, false},
		{[]string{`Etag: W/"a"`}, []string{`Etag: "a"`}, false},
		{[]string{`Etag: "a"`}, []string{`Etag: W/"a"`}, true},
		{[]string{`Etag: W/"a"`}, []string{`Etag: W/"a"`}, true},
		{[]string{`Etag: W/"a"`}, []string{`Etag: W/"b"`}, false},
		{[]string{old}, []string{`Etag: "b"`}, false},
		{[]string{old}, []string{old}, true},
		{[]string{old}, []string{recent}, false},
		{[]string{`Etag: "a"`, old}, []string{`Etag: "a"`, recent}, true},
		{[]string{`Etag: "a"`, old}, []string{recent}, false},
		{[]string{`Etag: "a"`, old}, nil, true},
		{[]string{old}, nil, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := validating(append([]string{"Cache-Control: max-age=1"}, c.stored...), append([]string{"Cache-Control: max-age=1"}, c.update...))
			cache := newTestCache(t, o)
			get(cache, "/a")
			time.Sleep(2 * time.Second)
			if r := get(cache, "/a"); text(r) != "body" || (o.count() == 2) != c.updated {
				t.Errorf("%q, validated by %q: %d requests, %v", c.stored, c.update, o.count(), r.Header)
			}
		})
	}
}

// A response that depends on a request with Authorization stays with its users, unless all of its fields permit otherwise
// (RFC 9111, section 3.5).
func TestUpdatedAuthorization(t *testing.T) {
	const public = "Cache-Control: public, max-age=3"
	for _, c := range []struct {
		name, first, update string
		users               [2]string // of the first request and the validating one
		hit                 bool
	}{
		{"public", public, public, [2]string{"alice", "alice"}, true},
		{"public, then not", public, "Cache-Control: max-age=60", [2]string{"alice", ""}, false},
		{"fields of a user", "Cache-Control: max-age=3", "Cache-Control: max-age=60", [2]string{"", "alice"}, false},
		{"nobody's", "Cache-Control: max-age=3", "Cache-Control: max-age=60", [2]string{"", ""}, true},
	} {
		for store, option := range stores(t) {
			t.Run(c.name+", "+store, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cache := newTestCache(t, validating([]string{c.first, `Etag: "v"`}, []string{c.update, `Etag: "v"`}), option)
					for i, user := range c.users {
						var fields []string
						if user != "" {
							fields = append(fields, "Authorization: "+user)
						}
						time.Sleep(time.Duration(i) * 4 * time.Second)
						get(cache, "/a", fields...)
						synctest.Wait()
					}
					get(cache, "/a", "Cache-Control: no-store") // changes nothing
					if r := get(cache, "/a", "Cache-Control: only-if-cached, max-stale"); isHit(r) != c.hit {
						t.Errorf("the next client: status %d, %v", r.StatusCode, r.Header)
					}
				})
			})
		}
	}
}

// A 304 to a client's own condition updates the stored response, and an answer to HEAD that contradicts it removes it.
func TestLearned(t *testing.T) {
	for _, c := range []struct {
		method string
		fields []string // of the request
		answer []string
		status int
		extra  string // of the stored response afterwards
		hit    bool
	}{
		{"HEAD", []string{`If-None-Match: "v"`, "Cache-Control: no-cache"}, []string{`Etag: "v"`, "X-Extra: 2"}, 304, "2", true},
		{"GET", []string{`If-None-Match: "v"`, `If-Match: "v"`}, []string{`Etag: "v"`, "X-Extra: 2"}, 304, "2", true},
		{"GET", []string{`If-None-Match: "v"`, `If-Match: "v"`}, []string{"X-Extra: 2"}, 304, "2", true},
		{"GET", []string{`If-None-Match: "w"`, `If-Match: "v"`}, []string{"X-Extra: 2"}, 304, "1", true},
		{"GET", []string{`If-None-Match: "w"`, `If-Match: "v"`}, []string{`Etag: "w"`, "X-Extra: 2"}, 304, "1", true},
		{"GET", []string{`If-None-Match: "v"`, "Cache-Control: no-store, no-cache"}, []string{`Etag: "v"`, "X-Extra: 2"}, 304, "1", true},
		{"GET", []string{`If-None-Match: "v"`, `If-Match: "v"`}, []string{`Etag: "v"`, "Cache-Control: private"}, 304, "", false},
		{"HEAD", []string{"Cache-Control: no-cache"}, []string{`Etag: "v"`, "X-Extra: 2", "Content-Length: 4"}, 200, "1", true},
		{"HEAD", []string{"Cache-Control: no-cache"}, []string{`Etag: "w"`}, 200, "", false},
		{"HEAD", []string{"Cache-Control: no-cache"}, []string{"Content-Length: 5"}, 200, "", false},
		{"HEAD", []string{"Cache-Control: no-cache"}, []string{`Etag: "w"`}, 404, "1", true},
		{"OPTIONS", nil, []string{`Etag: "w"`}, 200, "1", true},
	} {
		o := answering("body", "Cache-Control: max-age=60", `Etag: "v"`, "X-Extra: 1")
		first := o.handle
		o.handle = func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && len(r.Header["If-None-Match"]) == 0 {
				first(w, r)
				return
			}
			for _, field := range c.answer {
				name, value, _ := strings.Cut(field, ": ")
				w.Header().Set(name, value)
			}
			w.WriteHeader(c.status)
		}
		cache := newTestCache(t, o)
		get(cache, "/a")
		await.True(t, "the response is stored", func() bool { return isHit(get(cache, "/a")) })
		if r := do(cache, httptest.NewRequest(c.method, "/a", nil), c.fields...); r.StatusCode != c.status {
			t.Errorf("%s %q: status %d, want %d", c.method, c.fields, r.StatusCode, c.status)
		}
		r := get(cache, "/a", "Cache-Control: only-if-cached")
		if isHit(r) != c.hit || r.Header.Get("X-Extra") != c.extra {
			t.Errorf("%s %q, answered with %d and %q: then %d, %v", c.method, c.fields, c.status, c.answer, r.StatusCode, r.Header)
		}
	}
}

// A stale response that the request of one client permits while the origin fails is not for clients that wait with it.
func TestStaleForOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := validating([]string{"Cache-Control: max-age=3", `Etag: "v"`}, nil)
		first := o.handle
		o.handle = func(w http.ResponseWriter, r *http.Request) {
			if isConditional(r.Header) {
				time.Sleep(time.Second)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			first(w, r)
		}
		c := newTestCache(t, o)
		get(c, "/a")
		time.Sleep(4 * time.Second)
		var clients sync.WaitGroup
		for i, want := range []int{200, 503, 200} {
			clients.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				var fields []string
				if want == 200 {
					fields = append(fields, "Cache-Control: stale-if-error=60")
				}
				if r := get(c, "/a", fields...); r.StatusCode != want {
					t.Errorf("client %d: status %d, want %d", i, r.StatusCode, want)
				}
			})
		}
		clients.Wait()
		if o.count() != 3 {
			t.Errorf("%d requests, want 3", o.count())
		}
	})
}
