package httpcache

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// origin is a server that a cache reaches without a network, so that tests can have a clock of their own.
type origin struct {
	handle func(w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex
	requests []*http.Request
}

// RoundTrip runs the handler. The body arrives while the handler writes it.
func (o *origin) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.requests = append(o.requests, r)
	o.mu.Unlock()
	reader, writer := io.Pipe()
	w := &pipeWriter{header: http.Header{}, to: writer, ready: make(chan struct{})}
	go func() {
		defer func() {
			err, _ := recover().(error)
			w.WriteHeader(http.StatusOK)
			_ = writer.CloseWithError(err) // io.EOF without a panic
		}()
		o.handle(w, r)
	}()
	stop := make(chan struct{})
	go func() {
		select {
		case <-r.Context().Done():
			_ = writer.CloseWithError(r.Context().Err())
		case <-stop:
		}
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done():
		close(stop)
		return nil, r.Context().Err()
	}
	if w.err != nil {
		close(stop)
		return nil, w.err
	}
	length := int64(-1)
	if n, ok := digits(w.sent.Get("Content-Length")); ok {
		length = n
	}
	body := &closing{ReadCloser: reader, stop: stop}
	return &http.Response{
		StatusCode: w.status, Header: w.sent, Body: body, ContentLength: length, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// count returns the number of requests so far.
func (o *origin) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.requests)
}

// last returns the last request.
func (o *origin) last() *http.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests[len(o.requests)-1]
}

type closing struct {
	io.ReadCloser
	stop chan struct{}
	once sync.Once
}

func (c *closing) Close() error {
	c.once.Do(func() { close(c.stop) })
	return c.ReadCloser.Close()
}

// pipeWriter is the ResponseWriter of an origin.
type pipeWriter struct {
	header, sent http.Header
	status       int
	err          error // with which the request fails
	to           *io.PipeWriter
	ready        chan struct{}
	once         sync.Once
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.to.Write(p)
}

// unreachable makes the request of the writer fail.
func unreachable(w http.ResponseWriter, err error) {
	p := w.(*pipeWriter)
	p.once.Do(func() {
		p.err = err
		close(p.ready)
	})
}

// exampleOrigin is the origin of most caches.
var exampleOrigin = url.URL{Scheme: "http", Host: "origin.example"}

// newTestCache returns a cache of http://origin.example that ends with the test.
func newTestCache(t testing.TB, o *origin, change ...func(*Options)) *Cache {
	t.Helper()
	options := Options{Origin: &exampleOrigin, Upstream: o, Size: 8 << 20}
	for _, c := range change {
		c(&options)
	}
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// get sends a request with fields "name: value" and returns the answer.
func get(c *Cache, path string, fields ...string) *http.Response {
	return do(c, httptest.NewRequest(http.MethodGet, path, nil), fields...)
}

func do(c *Cache, r *http.Request, fields ...string) *http.Response {
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w.Result()
}

// text returns the body of an answer.
func text(r *http.Response) string {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// isHit reports whether an answer came from the store without the origin.
func isHit(r *http.Response) bool {
	return strings.Contains(r.Header.Get("Cache-Status"), "umbel; hit")
}

// answering returns an origin that always answers with these fields and the body.
func answering(body string, fields ...string) *origin {
	return &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			w.Header().Add(name, value)
		}
		_, _ = io.WriteString(w, body)
	}}
}
