package httpapi

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"time"
)

// answer is a response whose client has so long for each piece.
type answer struct {
	http.ResponseWriter
	rc    *http.ResponseController
	idle  time.Duration
	code  int
	bytes int64
}

func newAnswer(w http.ResponseWriter, idle time.Duration) *answer {
	a := &answer{ResponseWriter: w, rc: http.NewResponseController(w), idle: idle}
	a.moreToWrite()
	return a
}

// moreToWrite gives the client time to take the next piece.
func (a *answer) moreToWrite() { _ = a.rc.SetWriteDeadline(time.Now().Add(a.idle)) }

// body is a request's body that must come in time: all of it or, if it is a stream, each
// piece.
type body struct {
	io.ReadCloser
	rc     *http.ResponseController
	idle   time.Duration
	stream bool
}

func newBody(of io.ReadCloser, a *answer) *body {
	b := &body{of, a.rc, a.idle, false}
	b.more()
	return b
}

func (b *body) more() { _ = b.rc.SetReadDeadline(time.Now().Add(b.idle)) }

func (b *body) Read(p []byte) (int, error) {
	if b.stream {
		b.more()
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		// The server listens on for the client to leave. A deadline would look like that.
		_ = b.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

func (a *answer) WriteHeader(code int) {
	if a.code == 0 && code >= 200 {
		a.code = code
	}
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(b []byte) (int, error) {
	if a.code == 0 {
		a.code = http.StatusOK
	}
	a.moreToWrite()
	n, err := a.ResponseWriter.Write(b)
	a.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// begun reports whether the client has been told a status.
func (a *answer) begun() bool { return a.code != 0 }

func (a *answer) status() int {
	if a.code == 0 {
		return http.StatusOK
	}
	return a.code
}

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", mediaJSON)
	}
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err = w.Write(append(b, '\n'))
	return err
}

// float is a number that may be infinite, which JSON writes as null.
type float float64

func (f float) MarshalJSON() ([]byte, error) {
	if x := float64(f); math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}
