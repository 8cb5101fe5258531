package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// NoAnswer is that a request was not answered: nobody is there, or who is can't be understood
// or trusted.
type NoAnswer struct {
	Node string // host:port
	Err  error
}

func (e *NoAnswer) Error() string { return fmt.Sprintf("%s: %v", e.Node, e.Err) }

// Unwrap returns why.
func (e *NoAnswer) Unwrap() error { return e.Err }

// Error is a problem that a node told of. It wraps the sentinel of which the node's own
// error was: umbel.ErrMismatch, engine.ErrNotFound, errors.ErrUnsupported and so on.
type Error struct {
	Type   string // as "/problems/not-found"
	Title  string
	Status int
	Detail string
	Done   uint64 // keys of the request that were taken all the same
	Node   string // host:port of who says so
}

func (e *Error) Error() string {
	if e.Detail != "" {
		return e.Detail
	}
	return fmt.Sprintf("%s (%d)", e.Title, e.Status)
}

// Unwrap returns the sentinel, nil if there is none.
func (e *Error) Unwrap() error { return sentinels[strings.TrimPrefix(e.Type, "/problems/")] }

// sentinels are what problems mean, by the last word of their type.
var sentinels = map[string]error{
	"not-found":    engine.ErrNotFound,
	"exists":       engine.ErrExists,
	"incomplete":   engine.ErrHidden,
	"memory":       engine.ErrMemory,
	"read-only":    engine.ErrReadOnly,
	"denied":       access.ErrDenied,
	"unauthorized": access.ErrDenied,
	"unsupported":  errors.ErrUnsupported,
	"corrupt":      umbel.ErrCorrupt,
	"kind":         umbel.ErrKind,
	"goal":         umbel.ErrGoal,
	"mismatch":     umbel.ErrMismatch,
	"limit":        umbel.ErrLimit,
	"too-large":    umbel.ErrLimit,
	"precondition": umbel.ErrMismatch,
}

// maxProblem is the longest description of a problem that is read, in bytes.
const maxProblem = 64 << 10

// problemOf returns the problem that an answer is.
func problemOf(answer *http.Response) error {
	e := &Error{Status: answer.StatusCode, Title: http.StatusText(answer.StatusCode), Node: answer.Request.URL.Host}
	b, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem)) // the status tells enough
	if strings.HasPrefix(answer.Header.Get("Content-Type"), mediaProblem) {
		e.read(b)
	} else {
		e.Detail = fmt.Sprintf("%s answers %q, and not as umbel does", answer.Request.URL.Host, answer.Status)
	}
	return e
}

// read takes what a node says.
func (e *Error) read(b []byte) {
	var p struct {
		Type, Title, Detail string
		Done                uint64
	}
	if json.Unmarshal(b, &p) == nil {
		e.Type, e.Title, e.Detail, e.Done = p.Type, p.Title, p.Detail, p.Done
	}
}
