package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// response is a response writer that gives the client at most idle for each piece.
type response struct {
	http.ResponseWriter
	rc    *http.ResponseController
	idle  time.Duration
	code  int
	bytes int64
}

func newResponse(w http.ResponseWriter, idle time.Duration) response {
	a := response{ResponseWriter: w, rc: http.NewResponseController(w), idle: idle}
	a.extendWriteDeadline()
	return a
}

// extendWriteDeadline gives the client time to take the next piece.
func (a *response) extendWriteDeadline() { _ = a.rc.SetWriteDeadline(time.Now().Add(a.idle)) }

// timedBody is a request body that must arrive within idle: all of it or, if stream is set, each
// piece.
type timedBody struct {
	io.ReadCloser
	rc     *http.ResponseController
	idle   time.Duration
	stream bool
	ended  bool  // all of it was read
	broken error // of the transfer, a problem bad-request: broken chunks, or half a body

	mu          sync.Mutex // guards the deadline
	interrupted bool       // or released
}

func newTimedBody(of io.ReadCloser, a *response) *timedBody {
	b := &timedBody{ReadCloser: of, rc: a.rc, idle: a.idle}
	b.extendReadDeadline()
	return b
}

func (b *timedBody) extendReadDeadline() { b.setReadDeadline(time.Now().Add(b.idle)) }

func (b *timedBody) setReadDeadline(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.interrupted {
		_ = b.rc.SetReadDeadline(t)
	}
}

// interrupt ends the current Read and all later ones. It is safe to call concurrently with Read, and does nothing after
// release.
func (b *timedBody) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.interrupted {
		b.interrupted = true
		_ = b.rc.SetReadDeadline(time.Unix(1, 0))
	}
}

// release ends the use of the connection: a later interrupt does nothing. The handler calls it before it returns, when the connection
// already serves another request, and HTTP/2 has none.
func (b *timedBody) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.interrupted = true
}

func (b *timedBody) Read(p []byte) (int, error) {
	if b.stream {
		b.extendReadDeadline()
	}
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		// The server keeps reading to notice that the client has left. A deadline would look the same.
		b.setReadDeadline(time.Time{})
		b.ended = true
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		err = problemf(badRequest, "body: %w", err)
		b.broken = err
	}
	return n, err
}

func (a *response) WriteHeader(code int) {
	if a.code == 0 && code >= 200 {
		a.code = code
	}
	a.ResponseWriter.WriteHeader(code)
}

func (a *response) Write(b []byte) (int, error) {
	if a.code == 0 {
		a.code = http.StatusOK
	}
	a.extendWriteDeadline()
	n, err := a.ResponseWriter.Write(b)
	a.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the underlying writer.
func (a *response) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// started reports whether the status was sent.
func (a *response) started() bool { return a.code != 0 }

func (a *response) status() int {
	if a.code == 0 {
		return http.StatusOK
	}
	return a.code
}

// writeJSON responds with v as JSON.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", api.MediaJSON)
	}
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err = w.Write(append(b, '\n'))
	return err
}
