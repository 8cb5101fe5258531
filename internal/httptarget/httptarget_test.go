package httptarget

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// sent returns the target in the first line of a request for u.
func sent(t *testing.T, u *url.URL) string {
	t.Helper()
	var b strings.Builder
	r := &http.Request{Method: http.MethodGet, URL: u, Host: "example.org", Header: http.Header{}}
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(b.String(), "\r\n")
	return strings.TrimSuffix(strings.TrimPrefix(line, "GET "), " HTTP/1.1")
}

// received returns the request with a first line, nil if the server refuses it.
func received(method, target string) *http.Request {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\nHost: example.org\r\n\r\n")))
	if err != nil {
		return nil
	}
	return r
}

var base = &url.URL{Scheme: "http", Host: "127.0.0.1:8000"}

// TestUnchanged: the target that is sent has the bytes of the one that was received, or it is refused.
func TestUnchanged(t *testing.T) {
	pieces := []string{
		"/", "/", "//", "a", "b", ".", "..", "%2F", "%2f", "%41", "%7e", "%00", "%C3%A4", "ä", "\xff", "\"", "<", ">", "\\", "^", "`", "{", "|", "}", "[", "]", "#",
		"*", "!", "'", "(", ")", ";", ":", "@", "&", "=", "+", "$", ",", "~", "?", "??", "%zz", "%", "&&", "a=b;c=d",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	passed := 0
	const trials = 100_000
	for range trials {
		target := "/"
		for range rnd.IntN(8) {
			target += pieces[rnd.IntN(len(pieces))]
		}
		r := received(http.MethodGet, target)
		if r == nil {
			continue // a path with a bad escape
		}
		got, err := Received(r)
		if err != nil || got != target {
			t.Fatalf("%q: received as %q, %v", target, got, err)
		}
		u, err := On(base, got)
		if err != nil {
			if !errors.Is(err, ErrTarget) || !strings.HasPrefix(target, "//") {
				t.Fatalf("%q: %v", target, err)
			}
			continue
		}
		passed++
		if got := sent(t, u); got != target {
			t.Fatalf("%q is sent as %q", target, got)
		}
		if got := Of(u); got != target {
			t.Fatalf("%q: Of returns %q", target, got)
		}
		if u, err := Parse("http://127.0.0.1:8000" + target); err != nil || Of(u) != target || u.Host != base.Host {
			t.Fatalf("%q: Parse returns %v, %v", target, u, err)
		}
	}
	if passed < trials/2 {
		t.Errorf("%d of %d targets were sent; the test needs more", passed, trials)
	}
}

func TestForms(t *testing.T) {
	for _, c := range []struct{ method, target, want string }{
		{"GET", "http://example.org/a?b", "/a?b"},
		{"GET", "HTTPS://example.org/{a}%2F", "/{a}%2F"},
		{"GET", "http://example.org", "/"},
		{"GET", "http://example.org?a=http://b/", "/?a=http://b/"},
		{"GET", "http://example.org//a", "//a"},
		{"OPTIONS", "*", "*"},
		{"OPTIONS", "http://example.org", "*"},
		{"OPTIONS", "http://example.org/", "/"},
		{"GET", "*", ""},
		{"GET", "ftp://example.org/a", ""},
		{"GET", "urn:a", ""},
		{"CONNECT", "example.org:443", ""},
	} {
		r := received(c.method, c.target)
		if r == nil {
			if c.want != "" {
				t.Errorf("%s %s is refused", c.method, c.target)
			}
			continue
		}
		got, err := Received(r)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s: %q, %v, want %q", c.method, c.target, got, err, c.want)
		}
		if got == "" {
			continue
		}
		if u, err := On(base, got); err != nil || sent(t, u) != got {
			t.Errorf("%s %s: sent as %v, %v", c.method, c.target, u, err)
		}
	}
	for _, s := range []string{"", "/a", "http:///a", "http://a/%zz", "ftp://a/"} {
		if u, err := Parse(s); !errors.Is(err, ErrTarget) {
			t.Errorf("%q: %v, %v, want ErrTarget", s, u, err)
		}
	}
}
