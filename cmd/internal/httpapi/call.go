package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// maxName is the longest name of a filter that a path takes, in bytes.
const maxName = 512

// call is one request on its way through a route.
type call struct {
	*handler
	*answer
	request *http.Request
	route   route
	user    *access.User
	name    string       // of the filter in the path
	hold    *engine.Hold // of what comes in and of copies
}

// admit refuses requests that no route should see: those that a page of another site made
// a browser send, and those for a host that this isn't. The second keeps a page away whose
// own name was made to lead here.
func (h *handler) admit(r *http.Request) error {
	if err := h.origin.Check(r); err != nil {
		return problemf(crossOrigin, "%w", err)
	}
	if h.Hosts == nil {
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" || slices.ContainsFunc(h.Hosts, func(own string) bool { return strings.EqualFold(own, host) }) {
		return nil
	}
	return problemf(misdirected, "this server isn't %q: ask it by its address, or give it the name in its configuration", host)
}

// through returns the handler of a route: who asks, whether it may, and then the route.
func (h *handler) through(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{handler: h, answer: w.(*answer), request: r, route: to, name: r.PathValue("name"), hold: h.Engine.Hold()}
		defer c.hold.Free()
		err := c.enter()
		if err == nil {
			err = to.serve(c)
			if to.right&access.Admin != 0 && !errors.Is(err, access.ErrDenied) { // which is recorded where it is found
				c.record(c.name, err)
			}
		}
		switch {
		case err == nil:
		case c.begun() || gone(r, err):
			h.Log.Debug("http: the answer ended early", "path", r.URL.EscapedPath(), "error", err)
			panic(http.ErrAbortHandler) // so that the client can't take it for whole
		default:
			if kindOf(err) == internal {
				h.Log.Error("http", "method", r.Method, "path", r.URL.EscapedPath(), "error", err)
			}
			writeProblem(w, r, err)
		}
	})
}

// enter checks all that comes before the route.
func (c *call) enter() error {
	if c.route.open {
		c.user = &access.User{}
		return nil
	}
	if l := c.Rates.of(c.request.RemoteAddr); l != nil && !l.Allow() {
		return problemf(tooMany, "more than %v requests a second", float64(l.Limit()))
	}
	var err error
	if c.user, err = c.login(); err != nil {
		c.record(c.name, err)
		return err
	}
	if len(c.name) > maxName {
		return problemf(badRequest, "the name has %d bytes, at most %d are allowed", len(c.name), maxName)
	}
	if c.route.right == 0 {
		return nil
	}
	return c.may(c.route.right, c.name)
}

// login returns who asks.
func (c *call) login() (*access.User, error) {
	if c.Users == nil {
		return c.everyone, nil
	}
	switch scheme, credentials, _ := strings.Cut(c.request.Header.Get("Authorization"), " "); {
	case strings.EqualFold(scheme, "Bearer"):
		return c.Users.LoginToken(c.request.RemoteAddr, strings.TrimSpace(credentials))
	case strings.EqualFold(scheme, "Basic"):
		name, password, ok := c.request.BasicAuth()
		if !ok {
			return nil, problemf(unauthorized, "the Authorization header can't be read: %w", access.ErrDenied)
		}
		return c.Users.Login(c.request.RemoteAddr, name, password)
	case scheme != "":
		return nil, problemf(unauthorized, "Authorization by %q isn't known: use Bearer, Basic or a client certificate: %w", scheme, access.ErrDenied)
	}
	if u := c.Users.Certificate(c.request.TLS); u != nil {
		return u, nil
	}
	if u := c.Users.Default(); u != nil {
		return u, nil
	}
	return nil, problemf(unauthorized, "say who you are: by a token, a name and a password, or a client certificate: %w", access.ErrDenied)
}

// asFault makes an error a problem of a kind.
func asFault(k kind, err error) error {
	if err == nil {
		return nil
	}
	return &fault{k, err}
}

// may returns an error that wraps access.ErrDenied, and records it, unless the user has all
// those rights over a filter, or over the node if the name is empty.
func (c *call) may(rights access.Right, name string) error {
	for _, right := range []access.Right{access.Read, access.Add, access.Remove, access.Admin} {
		if rights&right != 0 && !c.has(right, name) {
			err := fmt.Errorf("user %q lacks a right for this: %w", c.user.Name, access.ErrDenied)
			c.record(name, err)
			return err
		}
	}
	return nil
}

func (c *call) has(right access.Right, name string) bool {
	if name == "" {
		return c.user.May(right, nil)
	}
	return c.user.May(right, []byte(name))
}

// record writes to the audit what an administrator did, or what was refused.
func (c *call) record(target string, err error) {
	c.Audit.Record(c.user, c.request.RemoteAddr, c.route.pattern, target[:min(len(target), maxName)], err)
}

// maySee returns an error unless the user may know all of a filter, its hasher's seed
// included, as who takes a container does. Who sends digests must be as much trusted: it
// chooses cells.
func (c *call) maySee(h umbel.Hasher, name string) error {
	if !h.Secret() || c.has(access.Admin, "") {
		return nil
	}
	err := fmt.Errorf("the filter's hash has a secret seed, so this is for administrators: %w", access.ErrDenied)
	c.record(name, err)
	return err
}

// filter returns the filter that the path names.
func (c *call) filter() (*engine.Filter, error) { return c.find(c.name) }

func (c *call) find(name string) (*engine.Filter, error) {
	if f := c.Engine.Get([]byte(name)); f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%q: %w", name, engine.ErrNotFound)
}

// whole returns a filter of which all is there, and that the user may read.
func (c *call) whole(name string) (*engine.Filter, error) {
	if err := c.may(access.Read, name); err != nil {
		return nil, err
	}
	f, err := c.find(name)
	if err == nil {
		err = complete(f)
	}
	return f, err
}

func complete(f *engine.Filter) error {
	if f.Hidden() {
		return problemf(incomplete, "%q is still being written: all keys may be in it until then", f.Name())
	}
	return nil
}

// kept waits until all changes up to pos are as safe as the node promises.
func (c *call) kept(pos engine.Position) error {
	if c.Wait == nil || pos == 0 {
		return nil
	}
	return asFault(notKept, c.Wait(c.request.Context(), pos))
}

// limited is the body of a request that isn't streamed.
func (c *call) limited() io.Reader {
	return http.MaxBytesReader(c.answer.ResponseWriter, c.request.Body, c.MaxBody)
}

// streamed is the body of a request of any length, whose client has so long for each piece.
func (c *call) streamed() io.Reader {
	if b, ok := c.request.Body.(*body); ok {
		b.stream = true
	}
	return c.request.Body
}

// readJSON reads a body that is one JSON value; an empty one leaves v as it is. A form of a web
// page, which can send text, is none.
func (c *call) readJSON(v any) error {
	if _, err := bodyType(c.request, mediaJSON, mediaMerge); err != nil {
		return err
	}
	d := json.NewDecoder(c.limited())
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == io.EOF {
		return nil
	}
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		} else if err == nil {
			return problemf(badRequest, "something follows the JSON value of the body")
		}
	}
	return unread(err)
}

// unread says of an error whether the body couldn't be read or wasn't what it should be.
func unread(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("the body is too large, send it in parts or as a stream: %w", err)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return err
	}
	return problemf(badRequest, "the body: %w", err)
}

// text returns a name or a key for JSON: as it is, or in base64 if it isn't UTF-8.
func text(s string) (plain *string, encoded string) {
	if isUTF8(s) {
		return &s, ""
	}
	return nil, base64.StdEncoding.EncodeToString([]byte(s))
}
