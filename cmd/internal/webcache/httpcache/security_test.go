package httpcache

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// Responses for one user are never stored.
func TestNotStored(t *testing.T) {
	for _, c := range []struct {
		name     string
		response []string
		request  []string
		stored   bool
	}{
		{"private", []string{"Cache-Control: private, max-age=100"}, nil, false},
		{"no-store", []string{"Cache-Control: no-store, max-age=100"}, nil, false},
		{"Set-Cookie", []string{"Cache-Control: max-age=100", "Set-Cookie: a=b"}, nil, false},
		{"public Set-Cookie", []string{"Cache-Control: public, max-age=100", "Set-Cookie: a=b"}, nil, false},
		{"Authorization", []string{"Cache-Control: max-age=100"}, []string{"Authorization: x"}, false},
		{"public Authorization", []string{"Cache-Control: public, max-age=100"}, []string{"Authorization: x"}, true},
		{"proxy-revalidate Authorization", []string{"Cache-Control: proxy-revalidate, max-age=100"}, []string{"Authorization: x"}, false},
		{"a list with another form", []string{"Cache-Control: max-age=100", `Vary: "Foo"`}, nil, false},
		{"must-revalidate Authorization", []string{"Cache-Control: must-revalidate, max-age=100"}, []string{"Authorization: x"}, true},
		{"Vary: *", []string{"Cache-Control: max-age=100", "Vary: *"}, nil, false},
		{"hidden by Connection", []string{"Cache-Control: private, max-age=100", "Connection: Cache-Control"}, nil, false},
		{"Cookie", []string{"Cache-Control: max-age=100"}, []string{"Cookie: a=b"}, true},
		{"nothing", nil, nil, false},
		{"CDN-Cache-Control", []string{"Cache-Control: max-age=100", "CDN-Cache-Control: private"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := answering("body", c.response...)
			cache := newTestCache(t, o)
			get(cache, "/a", c.request...)
			r := get(cache, "/a", "Cache-Control: only-if-cached")
			if stored := r.StatusCode == http.StatusOK; stored != c.stored {
				t.Errorf("stored: %v, want %v", stored, c.stored)
			}
		})
	}
}

// Answers to one request are not stored for others: those that depend on its range, its conditions or its credentials, or on the
// number of requests, even if they state how long they are fresh.
func TestAnswersToOneRequest(t *testing.T) {
	const fresh = "Cache-Control: public, max-age=100"
	type answer struct {
		status int
		fields []string // of the request
		more   string   // a field of the answer
	}
	answers := []answer{
		{200, []string{"Range: bytes=1-2"}, "Content-Range: bytes 1-2/10"}, {200, []string{"Range: bytes=1-2,4-5"}, "Content-Type: Multipart/ByteRanges; boundary=x"},
		{304, []string{`If-None-Match: "v"`}, ""}, {412, []string{`If-None-Match: "v"`}, ""}, {412, []string{"If-Modified-Since: Thu, 18 Aug 2011 02:01:18 GMT"}, ""},
		{200, []string{`If-Match: "v"`}, ""}, {412, []string{`If-Match: "v"`}, ""}, {412, []string{"If-Unmodified-Since: Thu, 18 Aug 2011 02:01:18 GMT"}, ""},
		{417, []string{"Expect: 100-continue"}, ""}, {226, []string{"A-Im: vcdiff"}, ""}, {206, nil, ""}, {416, nil, ""},
	}
	for _, status := range []int{201, 203, 204, 206, 301, 302, 404, 410, 416, 500, 503} {
		for _, fields := range [][]string{{"Range: bytes=99-"}, {"Range: bytes=1-2", `If-Range: "v"`}, {"Range: bytes=0-0,-1"}, {"Range: x"}} {
			answers = append(answers, answer{status, fields, ""})
		}
	}
	for _, status := range []int{401, 406, 407, 408, 413, 421, 425, 426, 428, 429, 431, 511} {
		answers = append(answers, answer{status, nil, ""})
	}
	for store, option := range stores(t) {
		o := answering("body", fresh)
		c := newTestCache(t, o, option)
		whole := o.handle
		for i, a := range answers {
			o.handle = func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-First") == "" {
					whole(w, r)
					return
				}
				name, value, _ := strings.Cut(fresh, ": ")
				w.Header().Set(name, value)
				if name, value, ok := strings.Cut(a.more, ": "); ok {
					w.Header().Set(name, value)
				}
				w.WriteHeader(a.status)
			}
			path := "/" + strconv.Itoa(i)
			if r := get(c, path, append(a.fields, "X-First: 1")...); r.StatusCode != a.status {
				t.Errorf("%v, %s: status %d", a, store, r.StatusCode)
			}
			if r := get(c, path); r.StatusCode != 200 || isHit(r) || text(r) != "body" {
				t.Errorf("%v, %s: the next client gets %d, %v", a, store, r.StatusCode, r.Header)
			}
		}
	}
}

// Fields that are not part of the key do not reach the origin with a request whose answer is stored.
func TestUnkeyedFields(t *testing.T) {
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		for name, values := range r.Header {
			if strings.Contains(values[0], "evil") {
				_, _ = w.Write([]byte(name + " "))
			}
		}
		_, _ = w.Write([]byte(r.Method + " " + r.Host + r.URL.RequestURI()))
	}}
	c := newTestCache(t, o)
	r := httptest.NewRequest(http.MethodGet, "http://evil.example/a", nil)
	for _, name := range unkeyed {
		r.Header.Set(name, "evil")
	}
	const want = "GET origin.example/a"
	if got := text(do(c, r)); got != want {
		t.Errorf("the origin answers %q, want %q", got, want)
	}
	if got := text(get(c, "/a")); got != want || o.count() != 1 {
		t.Errorf("the next client gets %q, want %q", got, want)
	}
	// A method in a field is no method: the response to POST must not be stored for GET.
	get(c, "/b", "X-HTTP-Method-Override: POST")
	if got := text(get(c, "/b")); got != "GET origin.example/b" {
		t.Errorf("the next client gets %q", got)
	}
}

// The key is made from what the origin gets, and different bytes are different keys.
func TestKeys(t *testing.T) {
	paths := []string{"/a/b", "/a%2Fb", "/a%2fb", "/a//b", "/a/./b", "/a/../b", "/A/b", "/a/b/", "/a/b?", "/a/b?c", "/a/b?c=%2F", "/a/b?c=/", "/a%00b", "//a/b", "/a;b", "/a%3Bb"}
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		_, _ = w.Write([]byte(r.URL.RequestURI()))
	}}
	c := newTestCache(t, o)
	for range 2 {
		for _, path := range paths {
			r := httptest.NewRequest(http.MethodGet, "http://client.example/", nil)
			u, err := url.ParseRequestURI(path) // as net/http does
			if err != nil {
				t.Fatal(err)
			}
			r.URL, r.RequestURI = u, path
			if got := text(do(c, r)); got != path {
				t.Errorf("%s gets the response for %s", path, got)
			}
		}
	}
	if o.count() != len(paths) {
		t.Errorf("%d requests for %d paths", o.count(), len(paths))
	}
	for key := range c.index.cache.Keys() {
		if !strings.HasPrefix(key, "http://origin.example/") {
			t.Errorf("key %s", key)
		}
	}
}

// A forward proxy has the host in the key, in one form, and sends the same host.
func TestForwardKeys(t *testing.T) {
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		_, _ = w.Write([]byte(r.URL.Host + " " + r.Host))
	}}
	c := newTestCache(t, o, func(o *Options) { o.Origin = nil })
	for _, k := range []struct{ url, want string }{
		{"http://a.example/x", "a.example a.example"}, {"http://A.EXAMPLE:80/x", "a.example a.example"}, {"http://b.example/x", "b.example b.example"},
		{"http://a.example:8080/x", "a.example:8080 a.example:8080"}, {"http://[::1]:80/x", "[::1] [::1]"},
	} {
		r := httptest.NewRequest(http.MethodGet, k.url, nil)
		r.Host = "evil.example"
		if got := text(do(c, r)); got != k.want {
			t.Errorf("%s: %q, want %q", k.url, got, k.want)
		}
	}
	if o.count() != 4 {
		t.Errorf("%d requests, want 4", o.count())
	}
	for _, bad := range []string{"/x", "https://a.example/x", "http://user@a.example/x", "ftp://a.example/x"} {
		r := httptest.NewRequest(http.MethodGet, bad, nil)
		if r := do(c, r); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", bad, r.StatusCode)
		}
	}
}

// A GET with a body passes: the body could change the answer, but is not part of the key.
func TestBodyOfGet(t *testing.T) {
	o := answering("body", "Cache-Control: max-age=100")
	c := newTestCache(t, o)
	do(c, httptest.NewRequest(http.MethodGet, "/a", strings.NewReader("evil")))
	if r := get(c, "/a", "Cache-Control: only-if-cached"); r.StatusCode != http.StatusGatewayTimeout {
		t.Error("the answer to a GET with a body is stored")
	}
}

// A field that Connection lists does not reach the origin, so that its value selects nothing.
func TestListedFieldsSelectNothing(t *testing.T) {
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		w.Header().Set("Vary", "Accept-Language")
		_, _ = w.Write([]byte("in " + r.Header.Get("Accept-Language")))
	}}
	c := newTestCache(t, o)
	if got := text(get(c, "/a", "Accept-Language: de", "Connection: Accept-Language")); got != "in " {
		t.Errorf("%q", got)
	}
	for range 2 {
		if got := text(get(c, "/a", "Accept-Language: de")); got != "in de" {
			t.Errorf("another client gets %q", got)
		}
	}
}
