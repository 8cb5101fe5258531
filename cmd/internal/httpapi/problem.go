package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// problem is what went wrong, as RFC 9457 has it.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Done is how many keys of the request were taken all the same.
	Done *uint64 `json:"done,omitempty"`
}

// fault is an error that knows which problem it is.
type fault struct {
	kind  kind
	cause error
}

func (f *fault) Error() string { return f.cause.Error() }
func (f *fault) Unwrap() error { return f.cause }

// problemf returns an error that is a problem of that kind.
func problemf(k kind, format string, args ...any) error {
	return &fault{k, fmt.Errorf(format, args...)}
}

// partial is an error after some keys were taken.
type partial struct {
	error
	done uint64
}

func (p partial) Unwrap() error { return p.error }

// kind is a kind of problem: its type's last word, which never changes, its title and status.
type kind struct {
	word, title string
	status      int
}

// The kinds of problems that are no sentinel's.
var (
	badRequest       = kind{"bad-request", "The request can't be read", http.StatusBadRequest}
	unauthorized     = kind{"unauthorized", "Who asks isn't known", http.StatusUnauthorized}
	noPath           = kind{"no-path", "No such path", http.StatusNotFound}
	methodNotAllowed = kind{"method", "Not a method of this path", http.StatusMethodNotAllowed}
	notAcceptable    = kind{"not-acceptable", "There is no such form of it", http.StatusNotAcceptable}
	precondition     = kind{"precondition", "The filter isn't as the request wants it", http.StatusPreconditionFailed}
	tooLarge         = kind{"too-large", "The request is too large", http.StatusRequestEntityTooLarge}
	mediaType        = kind{"media-type", "Not a media type of this path", http.StatusUnsupportedMediaType}
	misdirected      = kind{"host", "Not a name of this server", http.StatusMisdirectedRequest}
	crossOrigin      = kind{"cross-origin", "Another site's page asked", http.StatusForbidden}
	tooMany          = kind{"rate", "Too many requests", http.StatusTooManyRequests}
	incomplete       = kind{"incomplete", "The filter isn't all there yet", http.StatusConflict}
	notKept          = kind{"not-kept", "It isn't known whether the change will be kept", http.StatusServiceUnavailable}
	notReady         = kind{"not-ready", "Not ready", http.StatusServiceUnavailable}
	absent           = kind{"absent", "This server has no such function", http.StatusNotImplemented}
	internal         = kind{"internal", "Something is wrong with the server", http.StatusInternalServerError}
)

// sentinels tells of which kind errors of other packages are. The first that fits counts.
var sentinels = []struct {
	err error
	kind
}{
	{engine.ErrNotFound, kind{"not-found", "No such filter", http.StatusNotFound}},
	{engine.ErrExists, kind{"exists", "The filter exists", http.StatusConflict}},
	{engine.ErrHidden, incomplete},
	{engine.ErrMemory, kind{"memory", "The memory limit is reached", http.StatusInsufficientStorage}},
	{engine.ErrReadOnly, kind{"read-only", "Changes can't be kept now", http.StatusServiceUnavailable}},
	{access.ErrDenied, kind{"denied", "Permission denied", http.StatusForbidden}},
	{access.ErrWrongPassword, unauthorized},
	{access.ErrTooMany, tooMany},
	{errors.ErrUnsupported, kind{"unsupported", "Not supported", http.StatusUnprocessableEntity}},
	{umbel.ErrCorrupt, kind{"corrupt", "Not a filter", http.StatusUnprocessableEntity}},
	{umbel.ErrKind, kind{"kind", "Unknown kind", http.StatusUnprocessableEntity}},
	{umbel.ErrGoal, kind{"goal", "That can't be had", http.StatusUnprocessableEntity}},
	{umbel.ErrMismatch, kind{"mismatch", "These don't go together", http.StatusConflict}},
	{umbel.ErrLimit, kind{"limit", "The filter is at its limit", http.StatusInsufficientStorage}},
	{os.ErrDeadlineExceeded, kind{"timeout", "The request took too long to come", http.StatusRequestTimeout}},
}

// kindOf returns the kind of problem that an error is.
func kindOf(err error) kind {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.kind
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.kind
		}
	}
	return internal
}

// problemOf returns what a client is told of an error.
func problemOf(err error) problem {
	k := kindOf(err)
	p := problem{Type: "/problems/" + k.word, Title: k.title, Status: k.status, Detail: err.Error()}
	if part, ok := errors.AsType[partial](err); ok && part.done > 0 {
		p.Done = &part.done
	}
	return p
}

// retryAfter is what clients are told to wait, in seconds, before they try again.
const retryAfter = "1"

// writeProblem answers with a problem.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	h := w.Header()
	switch p.Status {
	case http.StatusUnauthorized:
		h.Add("WWW-Authenticate", `Bearer realm="umbel"`)
		h.Add("WWW-Authenticate", `Basic realm="umbel", charset="UTF-8"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h.Set("Retry-After", retryAfter)
	}
	h.Set("Content-Type", mediaProblem)
	h.Set("Cache-Control", "no-store")
	for _, name := range []string{"Etag", "Last-Modified", "Content-Length", "Content-Range", "Accept-Ranges", "Trailer"} {
		h.Del(name)
	}
	b, _ := json.Marshal(p) // strings and numbers
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(b, '\n')) // who left needs no answer
	}
}

// gone reports whether an error says that the client has left.
func gone(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && r.Context().Err() != nil
}
