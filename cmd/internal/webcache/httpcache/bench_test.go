package httpcache

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A hit without the server: finding the response and its fields. A ResponseWriter makes a map for the fields.
func BenchmarkHit(b *testing.B) {
	o := answering("body", "Cache-Control: max-age=100000", "Content-Type: text/plain")
	c := newTestCache(b, o)
	get(c, "/a")
	r := httptest.NewRequest(http.MethodGet, "/a", nil)
	w := &nullWriter{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		c.ServeHTTP(w, r)
	}
}

func BenchmarkMiss(b *testing.B) {
	o := answering("body", "Cache-Control: no-store")
	c := newTestCache(b, o)
	r := httptest.NewRequest(http.MethodGet, "/a", nil)
	b.ReportAllocs()
	for b.Loop() {
		c.ServeHTTP(&nullWriter{header: http.Header{}}, r)
	}
}

func BenchmarkDirectives(b *testing.B) {
	values := []string{`public, max-age=3600, s-maxage=60, stale-while-revalidate=30, no-cache="a, b"`}
	b.ReportAllocs()
	for b.Loop() {
		parseDirectives(values)
	}
}

// nullWriter discards an answer.
type nullWriter struct{ header http.Header }

func (w *nullWriter) Header() http.Header       { return w.header }
func (*nullWriter) WriteHeader(int)             {}
func (*nullWriter) Write(p []byte) (int, error) { return len(p), nil }
