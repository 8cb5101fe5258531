package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
)

// maxName is the length of the longest filter name in a path, in bytes.
const maxName = 512

// request is an HTTP request that is being served by a route.
type request struct {
	*handler
	*response
	http  *http.Request
	route route
	user  *access.User
	name  string              // of the filter in the path
	hold  *engine.Reservation // memory of incoming filters and of copies
	share *budget.Share       // memory of the body and the answers
}

// serveRoute returns the handler of a route. It authenticates and authorizes before it calls the
// route.
func (h *handler) serveRoute(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := &request{handler: h, response: &w.(*match).response, http: r, route: to, name: r.PathValue("name"),
			hold: h.Engine.NewReservation(), share: h.Budget.Share()}
		defer req.hold.Release()
		defer req.share.Release()
		err := req.authorize()
		if err == nil {
			err = checkEncoding(r)
		}
		if err == nil {
			err = req.waitRoom()
		}
		if err == nil {
			err = req.checkPlace()
		}
		if err == nil {
			err = to.serve(req)
			if to.right&access.Admin != 0 && !errors.Is(err, access.ErrDenied) { // denials were already recorded
				req.record(req.name, err)
			}
		}
		if b, ok := r.Body.(*timedBody); ok && err != nil && problemTypeOf(err) != badRequest && b.broken != nil {
			err = b.broken // for a decoder, the bytes that had arrived were corrupt
		}
		switch {
		case err == nil:
		case req.started() || clientLeft(r, err):
			h.Log.Debug("http response aborted", "path", r.URL.EscapedPath(), "error", err)
			panic(http.ErrAbortHandler) // so that the client notices that the response is incomplete
		default:
			if _, logged := errors.AsType[loggedError](err); !logged && problemTypeOf(err) == internalError {
				h.Log.Error("http request failed", event.HTTPFailed, "method", r.Method, "path", r.URL.EscapedPath(), "error", err)
			}
			if problemTypeOf(err) == follower {
				err = req.toLeader(w, err)
			}
			writeProblem(w, r, err)
		}
	})
}

// waitRoom waits until the journal has room, before a route that changes filters.
func (req *request) waitRoom() error {
	if req.Room == nil || req.route.right&(access.Add|access.Remove) == 0 {
		return nil
	}
	ctx := req.http.Context()
	_ = req.Room(ctx) // the change reports why nothing can be written
	return ctx.Err()
}

// authorize does all checks before the route is called.
func (req *request) authorize() error {
	if req.route.open {
		req.user = &access.User{}
		return nil
	}
	if l := req.Rates.of(req.http.RemoteAddr); l != nil && !l.Allow() {
		return problemf(tooMany, "more than %v requests a second", float64(l.Limit()))
	}
	if req.isPublic() {
		req.user = &access.User{}
		return nil
	}
	if err := req.login(); err != nil {
		return err
	}
	if len(req.name) > maxName {
		return checkNameLength(req.name)
	}
	if req.route.right == 0 {
		return nil
	}
	return req.require(req.route.right, req.name)
}

// login finds the user that the credentials of the request belong to. It records failures, but not
// requests without credentials, with which many clients begin.
func (req *request) login() (err error) {
	if req.Users == nil {
		req.user = req.everyone
		return nil
	}
	claimed := ""
	req.user, claimed, err = req.Users.Request(req.http)
	if err != nil && err != access.ErrNoCredentials {
		req.Audit.Record(claimed, req.http.RemoteAddr, "login", "http", err)
	}
	return err
}

// require returns an error wrapping access.ErrDenied, and records it, unless the user has all the
// rights for the filter, or for the server if name is empty.
func (req *request) require(rights access.Right, name string) error {
	for _, right := range []access.Right{access.Read, access.Add, access.Remove, access.Admin} {
		if rights&right != 0 && !req.allowed(right, name) {
			err := req.denied(right, name)
			req.record(name, err)
			return err
		}
	}
	return nil
}

// denied returns the error for a missing right.
func (req *request) denied(right access.Right, name string) error {
	if name == "" {
		return fmt.Errorf("user %q needs the right %v: %w", req.user.Name, right, access.ErrDenied)
	}
	return fmt.Errorf("user %q needs the right %v for filter %q: %w", req.user.Name, right, name, access.ErrDenied)
}

func (req *request) allowed(right access.Right, name string) bool {
	if name == "" {
		return req.user.May(right, nil)
	}
	return req.user.May(right, []byte(name))
}

// record writes an action of an administrator, or a denial, to the audit log.
func (req *request) record(target string, err error) {
	req.Audit.Record(req.user.String(), req.http.RemoteAddr, req.route.pattern, target, err)
}

// requireSeedAccess returns an error unless the user may know the seed of h. A container contains
// the seed; digests let the client choose cells. Both need the same trust.
func (req *request) requireSeedAccess(h umbel.Hasher, name string) error {
	if !h.Secret() || req.allowed(access.Admin, "") {
		return nil
	}
	err := fmt.Errorf("the seed of the filter's hash is secret; only administrators may do this: %w", access.ErrDenied)
	req.record(name, err)
	return err
}

// filter returns the filter named in the path.
func (req *request) filter() (*engine.Filter, error) { return req.find(req.name) }

func (req *request) find(name string) (*engine.Filter, error) {
	if f := req.Engine.Get([]byte(name)); f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%q: %w", name, req.Engine.CheckAbsent())
}

// completeFilter returns a filter that is complete and that the user may read.
func (req *request) completeFilter(name string) (*engine.Filter, error) {
	if err := req.require(access.Read, name); err != nil {
		return nil, err
	}
	f, err := req.find(name)
	if err == nil {
		err = checkComplete(f)
	}
	return f, err
}

func checkComplete(f *engine.Filter) error {
	if err := f.CheckComplete(); err != nil {
		return fmt.Errorf("%q: %w", f.Name(), err)
	}
	return nil
}

// durableRetry is the time after which a change that could not be kept is waited for again.
const durableRetry = 50 * time.Millisecond

// waitDurable waits until all changes up to pos are as durable as the server's setting demands. While they cannot be
// written, for example because the disk is full, they stay queued, and it waits as long as the client prefers. A client
// cannot repeat an addition that counts without adding the key twice.
func (req *request) waitDurable(pos engine.Position) error {
	if req.Wait == nil || pos == 0 {
		return nil
	}
	err := req.Wait(req.http.Context(), pos)
	if err == nil {
		return nil
	}
	patience, stop := context.WithTimeout(req.http.Context(), preferredWait(req.http))
	defer stop()
	defer context.AfterFunc(req.Serving, stop)()
	for err != nil {
		select {
		case <-patience.Done():
			return asProblem(notKept, err)
		case <-time.After(durableRetry):
		}
		err = req.Wait(req.http.Context(), pos)
	}
	return nil
}

// limitedBody returns the body of a request that is not a stream, with at most most bytes and
// MaxBody.
func (req *request) limitedBody(most int64) io.Reader {
	return http.MaxBytesReader(req.response.ResponseWriter, req.http.Body, min(most, req.MaxBody))
}

// streamedBody returns a body of any length, with a time limit for each piece.
func (req *request) streamedBody() io.Reader {
	if b, ok := req.http.Body.(*timedBody); ok {
		b.stream = true
	}
	return req.http.Body
}

// bodyError classifies an error of reading or decoding a body.
func bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("the body is too large; send it in parts or as a stream: %w", err)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*apiError](err); ok {
		return err
	}
	return problemf(badRequest, "body: %w", err)
}
