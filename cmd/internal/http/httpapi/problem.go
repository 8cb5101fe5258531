package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/share"
)

// apiError is an error with its problem type.
type apiError struct {
	problemType problemType
	cause       error
}

func (e *apiError) Error() string { return e.cause.Error() }
func (e *apiError) Unwrap() error { return e.cause }

// problemf returns an error of a problem type.
func problemf(t problemType, format string, args ...any) error {
	return &apiError{t, fmt.Errorf(format, args...)}
}

// asProblem gives err a problem type; nil stays nil.
func asProblem(t problemType, err error) error {
	if err == nil {
		return nil
	}
	return &apiError{t, err}
}

// loggedError is an error that the part of the node in which it occurred has logged.
type loggedError struct{ error }

func (e loggedError) Unwrap() error { return e.error }

// partialError is an error that occurred after done keys were processed.
type partialError struct {
	error
	done uint64
}

func (p partialError) Unwrap() error { return p.error }

// problemType is the type of a problem: a word that never changes, a title and a status.
type problemType struct {
	word, title string
	status      int
}

// Problem types without a sentinel.
var (
	badRequest       = problemType{"bad-request", "Malformed request", http.StatusBadRequest}
	unauthorized     = problemType{"unauthorized", "Not authenticated", http.StatusUnauthorized}
	noPath           = problemType{"no-path", "No such path", http.StatusNotFound}
	methodNotAllowed = problemType{"method", "Method not allowed", http.StatusMethodNotAllowed}
	notAcceptable    = problemType{"not-acceptable", "No acceptable representation", http.StatusNotAcceptable}
	precondition     = problemType{api.WordPrecondition, "Precondition failed", http.StatusPreconditionFailed}
	tooLarge         = problemType{"too-large", "Request too large", http.StatusRequestEntityTooLarge}
	mediaType        = problemType{"media-type", "Unsupported media type", http.StatusUnsupportedMediaType}
	misdirected      = problemType{"host", "Host not allowed", http.StatusMisdirectedRequest}
	elsewhere        = problemType{api.WordElsewhere, "Another node has the filter", http.StatusMisdirectedRequest}
	crossOrigin      = problemType{"cross-origin", "Cross-origin request refused", http.StatusForbidden}
	tooMany          = problemType{"rate", "Too many requests", http.StatusTooManyRequests}
	incomplete       = problemType{"incomplete", "Incomplete filter", http.StatusConflict}
	notKept          = problemType{"not-kept", "Change applied, but perhaps not durable", http.StatusServiceUnavailable}
	busy             = problemType{"busy", "Too many requests at a time", http.StatusServiceUnavailable}
	readOnly         = problemType{api.WordReadOnly, "Writes are refused", http.StatusServiceUnavailable}
	follower         = problemType{"follower", "Changes are for the leader of the group", http.StatusTemporaryRedirect}
	notPublished     = problemType{"not-published", "Publishing the filter failed", http.StatusServiceUnavailable}
	notReady         = problemType{"not-ready", "Not ready", http.StatusServiceUnavailable}
	roleConflict     = problemType{"role", "The member of the group has another role", http.StatusConflict}
	absent           = problemType{api.WordAbsent, "Not enabled", http.StatusNotImplemented}
	internalError    = problemType{"internal", "Internal error", http.StatusInternalServerError}
)

// sentinels maps errors of other packages to problem types. The first match counts.
var sentinels = []struct {
	err error
	problemType
}{
	{engine.ErrNotFound, problemType{api.WordNotFound, "No such filter", http.StatusNotFound}},
	{engine.ErrNamesMissing, problemType{"names-missing", "Names of filters may be missing", http.StatusConflict}},
	{publish.ErrUnknown, problemType{"no-publication", "No such publication", http.StatusNotFound}},
	{share.ErrSeed, problemType{"secret-seed", "The filter has a secret seed", http.StatusConflict}},
	{engine.ErrExists, problemType{api.WordExists, "Filter exists", http.StatusConflict}},
	{engine.ErrIncomplete, incomplete},
	{engine.ErrMemory, problemType{"memory", "Memory limit reached", http.StatusInsufficientStorage}},
	{engine.ErrFollower, follower},
	{engine.ErrReplica, problemType{"replica", "Read-only replica", http.StatusForbidden}},
	{engine.ErrDisk, problemType{"disk", "Disk limit reached", http.StatusInsufficientStorage}},
	{engine.ErrReadOnly, readOnly},
	{engine.ErrFault, problemType{"fault", "The filter cannot be read", http.StatusInternalServerError}},
	{share.ErrStale, problemType{"stale", "No current version", http.StatusServiceUnavailable}},
	{access.ErrDenied, problemType{"denied", "Permission denied", http.StatusForbidden}},
	{access.ErrWrongPassword, unauthorized},
	{access.ErrCredentials, unauthorized},
	{access.ErrNoCredentials, unauthorized},
	{access.ErrTooMany, tooMany},
	{budget.ErrFull, busy},
	{budget.ErrDisk, busy},
	{errors.ErrUnsupported, problemType{"unsupported", "Not supported by this kind", http.StatusUnprocessableEntity}},
	{umbel.ErrCorrupt, problemType{"corrupt", "Invalid filter data", http.StatusUnprocessableEntity}},
	{umbel.ErrKind, problemType{"kind", "Unknown kind", http.StatusUnprocessableEntity}},
	{umbel.ErrGoal, problemType{"goal", "No such filter is possible", http.StatusUnprocessableEntity}},
	{umbel.ErrMismatch, problemType{"mismatch", "Incompatible filters", http.StatusConflict}},
	{umbel.ErrLimit, problemType{"limit", "Filter at its limit", http.StatusInsufficientStorage}},
	{os.ErrDeadlineExceeded, problemType{"timeout", "Request timed out", http.StatusRequestTimeout}},
}

// problemTypeOf returns the problem type of an error.
func problemTypeOf(err error) problemType {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e.problemType
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.problemType
		}
	}
	if disk.IsFull(err) {
		return busy
	}
	return internalError
}

// problemOf returns the response for an error.
func problemOf(err error) api.Problem {
	t := problemTypeOf(err)
	p := api.Problem{Type: api.ProblemPath + t.word, Title: t.title, Status: t.status, Detail: report.Text(err)}
	if part, ok := errors.AsType[partialError](err); ok {
		p.Done = part.done
	}
	return p
}

// retryAfter is the value of Retry-After, in seconds.
const retryAfter = "1"

// writeProblem responds with a problem.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	h := w.Header()
	switch p.Status {
	case http.StatusUnauthorized:
		h.Add("WWW-Authenticate", `Bearer realm="umbel"`)
		h.Add("WWW-Authenticate", `Basic realm="umbel", charset="UTF-8"`)
	case http.StatusUnsupportedMediaType:
		if errors.Is(err, errEncoded) {
			h.Set("Accept-Encoding", identity)
		}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h.Set("Retry-After", retryAfter)
	}
	h.Set("Content-Type", api.MediaProblem)
	h.Set("Cache-Control", "no-store")
	for _, name := range []string{"Etag", "Last-Modified", "Content-Length", "Content-Range", "Accept-Ranges", "Trailer"} {
		h.Del(name)
	}
	if b, ok := r.Body.(*timedBody); ok && !b.ended && r.ContentLength < 0 && r.ProtoMajor == 1 {
		h.Set("Connection", "close") // otherwise the server would read on before it sends the problem
	}
	b, _ := json.Marshal(p) // strings and numbers cannot fail
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(b, '\n')) // a client that has left needs no response
	}
}

// clientLeft reports whether err was caused by the end of the client's connection.
func clientLeft(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && r.Context().Err() != nil
}
