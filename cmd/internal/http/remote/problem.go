package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/share"
)

// ConnectError means that a request got no response, or one that is invalid or not trusted.
type ConnectError struct {
	Node string // host:port
	Err  error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("%s: %v", e.Node, e.Err) }

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Error is a problem that a node reported. It wraps the sentinel of the library that the node's error wraps: umbel.ErrMismatch,
// share.ErrStale, errors.ErrUnsupported and others. See Word for the classes of a node.
type Error struct {
	api.Problem
	Node    string // host:port of the node
	Foreign bool   // the response is not one of umbel
}

func (e *Error) Error() string {
	if e.Detail != "" {
		return e.Detail
	}
	return fmt.Sprintf("%s (%d)", e.Title, e.Status)
}

// Unwrap returns the sentinel, or nil.
func (e *Error) Unwrap() error { return sentinels[e.Word()] }

// sentinels maps the last word of a problem's type to an error.
var sentinels = map[string]error{
	"memory":             umbel.ErrLimit,
	"stale":              share.ErrStale,
	"unsupported":        errors.ErrUnsupported,
	"corrupt":            umbel.ErrCorrupt,
	"kind":               umbel.ErrKind,
	"goal":               umbel.ErrGoal,
	"mismatch":           umbel.ErrMismatch,
	"limit":              umbel.ErrLimit,
	"too-large":          umbel.ErrLimit,
	api.WordPrecondition: umbel.ErrMismatch,
}

// word returns the word of the problem that a node reported, "" for another error.
func word(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Word()
	}
	return ""
}

// maxProblem is the maximum size of a problem in bytes.
const maxProblem = 64 << 10

// problemOf returns the problem in a response.
func problemOf(response *http.Response) error {
	e := &Error{api.Problem{Status: response.StatusCode, Title: http.StatusText(response.StatusCode)}, response.Request.URL.Host, false}
	b, _ := io.ReadAll(io.LimitReader(response.Body, maxProblem)) // the status is sufficient
	if strings.HasPrefix(response.Header.Get("Content-Type"), api.MediaProblem) {
		e.read(b)
	} else {
		e.Foreign = true
		e.Detail = fmt.Sprintf("%s returned %q, which is not a response of umbel", response.Request.URL.Host, response.Status)
		if response.StatusCode < 300 {
			e.Detail = fmt.Sprintf("%s returned %q and a body of type %q, which is not a response of umbel", response.Request.URL.Host,
				response.Status, response.Header.Get("Content-Type"))
		}
	}
	return e
}

// read decodes a problem.
func (e *Error) read(b []byte) {
	p := e.Problem
	if json.Unmarshal(b, &p) == nil {
		p.Status = e.Status
		e.Problem = p
	}
}
