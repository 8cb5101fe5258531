package substituter_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
)

var zero time.Time

const (
	ok          = http.StatusOK
	notFound    = http.StatusNotFound
	unavailable = http.StatusServiceUnavailable
)

// TestAbsentIsLocal: a path that no upstream has is answered without a request; one that the second upstream may have
// is requested there only.
func TestAbsentIsLocal(t *testing.T) {
	a, b := newCache(0, 10), newCache(10, 20)
	s := server(t, network{"a": a, "b": b},
		substituter.Upstream{URL: address("a"), Summary: fixed(substituter.Absent)},
		substituter.Upstream{URL: address("b"), Summary: fixed(substituter.Maybe)})
	wantStatus(t, s, 10, ok)
	wantStatus(t, s, 99, notFound)
	if n, m := a.requests(""), b.requests(""); n != 0 || m != 2 {
		t.Errorf("%d and %d requests, want 0 and 2", n, m)
	}
	none := server(t, network{"a": a}, substituter.Upstream{URL: address("a"), Summary: fixed(substituter.Absent)})
	wantStatus(t, none, 0, notFound)
	if n := a.requests(""); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
	if st := none.Status(); st.Absent != 1 || st.Upstreams[0].Skipped != 1 {
		t.Errorf("%+v", st)
	}
}

// TestOrder: the first upstream that has a path answers, and an upstream without a summary is requested.
func TestOrder(t *testing.T) {
	a, b := newCache(0, 10), newCache(0, 20)
	s := server(t, network{"a": a, "b": b}, substituter.Upstream{URL: address("a")}, substituter.Upstream{URL: address("b"), Summary: fixed(substituter.Unknown)})
	wantStatus(t, s, 5, ok)
	wantStatus(t, s, 15, ok)
	wantStatus(t, s, 25, notFound)
	if n, m := a.requests(""), b.requests(""); n != 3 || m != 2 {
		t.Errorf("%d and %d requests, want 3 and 2", n, m)
	}
}

// TestDeadUpstream: while an upstream that may have a path is not reachable, the path is not absent. It is requested
// again after a back-off, which doubles.
func TestDeadUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newCache(0, 10), newCache(10, 20)
		s := server(t, network{"a": a, "b": b}, substituter.Upstream{URL: address("a")}, substituter.Upstream{URL: address("b")})
		a.down = true
		began := time.Now()
		wantStatus(t, s, 15, ok) // after a has timed out
		if took := time.Since(began); took != substituter.DefaultTimeout {
			t.Errorf("answered after %v, want %v", took, substituter.DefaultTimeout)
		}
		began = time.Now()
		wantStatus(t, s, 15, ok)
		wantStatus(t, s, 5, unavailable)
		wantStatus(t, s, 99, unavailable)
		if took := time.Since(began); took != 0 {
			t.Errorf("answered after %v while a is in back-off, want at once", took)
		}
		a.down = false
		wantStatus(t, s, 5, unavailable)
		time.Sleep(time.Second)
		wantStatus(t, s, 5, ok)
		a.status = http.StatusInternalServerError
		wantStatus(t, s, 5, unavailable)
		time.Sleep(time.Second)
		wantStatus(t, s, 5, unavailable)
		a.status = 0
		time.Sleep(time.Second)
		wantStatus(t, s, 5, unavailable) // the second back-off is longer
		time.Sleep(time.Second)
		wantStatus(t, s, 5, ok)
		if st := s.Status(); st.Upstreams[0].Failures != 3 || !st.Upstreams[0].RetryAt.IsZero() {
			t.Errorf("%+v", st.Upstreams[0])
		}
	})
}

// TestSibling: a sibling that is not reachable counts as one that has no path.
func TestSibling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newCache(0, 10), newCache(10, 20)
		s := server(t, network{"a": a, "b": b}, substituter.Upstream{URL: address("a"), Sibling: true}, substituter.Upstream{URL: address("b")})
		wantStatus(t, s, 5, ok)
		a.down = true
		wantStatus(t, s, 15, ok)
		wantStatus(t, s, 5, notFound)
		wantStatus(t, s, 99, notFound)
	})
}

// TestLyingUpstream: a narinfo of another path, without a NAR below /nar, or that is too large is not passed on, and the
// next upstream is requested. A summary that has everything costs requests only.
func TestLyingUpstream(t *testing.T) {
	for what, body := range map[string]string{
		"another path":      narinfoOf(1),
		"no path":           "URL: nar/0.nar.xz\n",
		"a NAR elsewhere":   strings.Replace(narinfoOf(0), "nar/0", "http://evil.example/nar/0", 1),
		"a host":            strings.Replace(narinfoOf(0), "nar/0", "//evil.example/nar/0", 1),
		"a path upwards":    strings.Replace(narinfoOf(0), "nar/0", "nar/../../etc/passwd", 1),
		"an encoded upward": strings.Replace(narinfoOf(0), "nar/0", "nar/%2e%2e/x", 1),
		"no NAR":            "StorePath: /nix/store/" + hash(0).String() + "-x\n",
		"HTML":              "<html>not found</html>",
		"nothing":           "",
		"two mebibytes":     narinfoOf(0) + strings.Repeat("References: x\n", 150_000),
		"a long URL":        strings.Replace(narinfoOf(0), "nar/0", "nar/"+strings.Repeat("x", 2000), 1),
	} {
		a, b := newCache(0, 10), newCache(0, 10)
		a.lie = func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, body)
			return true
		}
		up := substituter.Upstream{URL: address("a"), Summary: fixed(substituter.Maybe)}
		s := server(t, network{"a": a, "b": b}, up, substituter.Upstream{URL: address("b")})
		if w := get(s, narinfo(0)); w.Code != ok || w.Body.String() != narinfoOf(0) {
			t.Errorf("%s: status %d, body %.200q", what, w.Code, w.Body)
		}
		alone := server(t, network{"a": a}, up)
		if w := get(alone, narinfo(0)); w.Code != unavailable {
			t.Errorf("%s, alone: status %d, want 503: the path may exist", what, w.Code)
		}
	}
}

// TestPaths: only files of a cache are served, and no request leaves the cache.
func TestPaths(t *testing.T) {
	a := newCache(0, 1)
	s := server(t, network{"a": a}, substituter.Upstream{URL: address("a")})
	for _, path := range []string{
		"/", "/x.narinfo", "/" + strings.ToUpper(hash(0).String()) + ".narinfo", "//" + hash(0).String() + ".narinfo",
		"/nar/../nix-cache-info", "/nar/..%2fnix-cache-info", "/nar//x", "/nar/", "/nar/./x", "/nar/a%5cb", "/nar/a%00b", "/nar", "/log/x", "/a/nar/0.nar.xz",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		u, err := url.Parse("http://localhost" + path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = u
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != notFound {
			t.Errorf("%s: status %d, want 404", path, w.Code)
		}
	}
	if n := a.requests(""); n != 0 {
		t.Errorf("%d requests to the upstream, want none", n)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, httptest.NewRequest(method, narinfo(0), nil)); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, httptest.NewRequest(http.MethodHead, narinfo(0), nil)); w.Code != ok || w.Body.Len() != 0 {
		t.Errorf("HEAD: status %d, %d bytes", w.Code, w.Body.Len())
	}
	if w := get(s, "/nix-cache-info"); w.Body.String() != "StoreDir: /nix/store\nWantMassQuery: 1\nPriority: 30\n" {
		t.Errorf("%q", w.Body)
	}
}

// TestLoop: a request that comes from the server itself ends.
func TestLoop(t *testing.T) {
	n := network{}
	s := server(t, n, substituter.Upstream{URL: address("self")})
	n["self"] = s
	wantStatus(t, s, 0, unavailable)
	if st := s.Status(); st.Upstreams[0].Requested != 1 {
		t.Errorf("%+v", st.Upstreams[0])
	}
}

// TestStatus: the status is JSON or text, and has no credentials.
func TestStatus(t *testing.T) {
	u := address("a")
	u.User = url.UserPassword("nix", "secret")
	s := server(t, network{"a": newCache(0, 1)}, substituter.Upstream{URL: u, Summary: fixed(substituter.Maybe)})
	wantStatus(t, s, 0, ok)
	wantStatus(t, s, 1, notFound)
	var st substituter.Status
	w := get(s, "/status?format=json")
	if err := json.Unmarshal(w.Body.Bytes(), &st); err != nil || st.Found != 1 || st.Missing != 1 || st.Upstreams[0].FalsePositives != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	text := get(s, "/status").Body.String()
	for _, page := range []string{text, w.Body.String()} {
		if strings.Contains(page, "secret") {
			t.Errorf("the password is in the status:\n%s", page)
		}
	}
	if !strings.Contains(text, "1 found, 1 not found") {
		t.Errorf("%s", text)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, text := range []string{"", "/var/cache", "ftp://host", "http://", "http://host/?x=1", "http://host/#x"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := substituter.New(substituter.Options{Upstreams: []substituter.Upstream{{URL: u}}}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if _, err := substituter.New(substituter.Options{}); err == nil {
		t.Error("no upstream is accepted")
	}
}
