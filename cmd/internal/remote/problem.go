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
	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// NoAnswer is that a request was not answered: nobody is there, or who is can't be understood
// or trusted.
type ConnectError struct {
	Node string // host:port
	Err  error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("%s: %v", e.Node, e.Err) }

// Unwrap returns why.
func (e *ConnectError) Unwrap() error { return e.Err }

// Error is a problem that a node told of. It wraps the sentinel of which the node's own
// error was: umbel.ErrMismatch, engine.ErrNotFound, errors.ErrUnsupported and so on.
type Error struct {
	api.Problem
	Node string // host:port of the node
}

func (e *Error) Error() string {
	if e.Detail != "" {
		return e.Detail
	}
	return fmt.Sprintf("%s (%d)", e.Title, e.Status)
}

// Unwrap returns the sentinel, nil if there is none.
func (e *Error) Unwrap() error { return sentinels[strings.TrimPrefix(e.Type, api.ProblemPath)] }

// sentinels are what problems mean, by the last word of their type.
var sentinels = map[string]error{
	"not-found":    engine.ErrNotFound,
	"exists":       engine.ErrExists,
	"incomplete":   engine.ErrIncomplete,
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

// problemOf returns the problem that an response is.
func problemOf(response *http.Response) error {
	e := &Error{api.Problem{Status: response.StatusCode, Title: http.StatusText(response.StatusCode)}, response.Request.URL.Host}
	b, _ := io.ReadAll(io.LimitReader(response.Body, maxProblem)) // the status tells enough
	if strings.HasPrefix(response.Header.Get("Content-Type"), api.MediaProblem) {
		e.read(b)
	} else {
		e.Detail = fmt.Sprintf("%s answers %q, and not as umbel does", response.Request.URL.Host, response.Status)
	}
	return e
}

// read takes what a node says.
func (e *Error) read(b []byte) {
	p := e.Problem
	if json.Unmarshal(b, &p) == nil {
		p.Status = e.Status
		e.Problem = p
	}
}
