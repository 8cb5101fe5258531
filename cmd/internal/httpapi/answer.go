package httpapi

import (
	"encoding/json"
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
	a.moreToRead()
	a.moreToWrite()
	return a
}

// moreToRead gives the client time for the next piece of its request.
func (a *answer) moreToRead() { _ = a.rc.SetReadDeadline(time.Now().Add(a.idle)) }

// moreToWrite gives the client time to take the next piece.
func (a *answer) moreToWrite() { _ = a.rc.SetWriteDeadline(time.Now().Add(a.idle)) }

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
