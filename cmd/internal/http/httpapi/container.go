package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/outgoing"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// sendContainer responds with the container of a filter, a range of it, or 304 Not Modified.
func (req *request) sendContainer(f *engine.Filter, form string) error {
	if form != "" && form != api.FormPacked {
		return problemf(notAcceptable, "unknown container form %q; use %s, or no form for the canonical one", api.Clip(form), api.FormPacked)
	}
	if err := req.requireSeedAccess(f.Hasher(), req.name); err != nil {
		return err
	}
	if err := checkComplete(f); err != nil {
		return err
	}
	if f.Hasher().Secret() {
		req.record(req.name, nil) // the container contains the seed
	}
	h := req.Header()
	h.Set("Cache-Control", "private, no-cache")
	if id, known := req.export.ID(f); known {
		if tag := etagOf(id, form); notModified(req.http, tag) {
			h.Set("Etag", tag)
			req.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	k, err := req.export.Acquire(req.http.Context(), f, outgoing.Form(form))
	if errors.Is(err, outgoing.ErrNoRoom) {
		return problemf(busy, "the disk has no room for a copy of the filter; try again when other downloads have ended or the disk has room")
	}
	if err != nil {
		return err
	}
	defer k.Release()
	contentType := api.MediaContainer
	if form != "" {
		contentType += "; form=" + form
	}
	h.Set("Content-Type", contentType)
	h.Set("Etag", etagOf(k.ID, form))
	http.ServeContent(req.response, req.http, "", time.Time{}, io.NewSectionReader(k, 0, k.Size))
	return nil
}

// notModified reports whether the client has the representation with this tag. ServeContent
// checks the same, but needs the copy.
func notModified(r *http.Request, tag string) bool {
	return r.Header.Get("If-Match") == "" && headerHas(r.Header.Get("If-None-Match"), tag)
}

// maxBytes returns the limit of the memory of an incoming filter on an empty server.
func (req *request) maxBytes() uint64 {
	_, limit := req.Engine.Memory()
	return cmp.Or(limit, wire.DefaultBytes)
}

// readContainer reads the filter in a container from the body. Its memory is reserved in addition to
// that of the filter that it replaces, which exists until the container is complete.
func (req *request) readContainer() (umbel.Filter, error) {
	l := req.hold.Limits()
	s, err := wire.Read(req.streamedBody(), l)
	switch {
	case errors.Is(err, engine.ErrMemory):
		return nil, err
	case errors.Is(err, umbel.ErrLimit) && l.Bytes < req.maxBytes():
		return nil, fmt.Errorf("the filter needs more than the %v that are left: %w", quantity.Size(l.Bytes), engine.ErrMemory)
	case errors.Is(err, umbel.ErrLimit):
		return nil, &apiError{tooLarge, err}
	case err != nil:
		return nil, err
	}
	return req.Engine.Kinds().Open(s)
}

// putContainer makes a filter from a container. It replaces an existing filter unless the request
// has If-None-Match.
func (req *request) putContainer() error {
	fresh, err := onlyNew(req.http)
	if err != nil {
		return err
	}
	match := req.http.Header.Get("If-Match")
	old := req.Engine.Get([]byte(req.name))
	switch {
	case old == nil && match != "" && req.Engine.MissingNames() != nil:
		_, err := req.filter()
		return err
	case old == nil && match != "":
		return problemf(precondition, "no filter %q", req.name)
	case old == nil:
	case fresh:
		return problemf(precondition, "%q: %w", req.name, engine.ErrExists)
	default:
		if err := req.require(access.Remove, req.name); err != nil {
			return err
		}
	}
	in, err := req.readContainer()
	if err != nil {
		return err
	}
	if match != "" {
		pos, err := req.replaceMatching(old, in, match)
		if err != nil {
			return err
		}
		return req.respondInfo(old, pos, false)
	}
	replace := !fresh && req.allowed(access.Remove, req.name)
	f, pos, err := req.Engine.Put(req.name, in, engine.PutOptions{Replace: replace, Hold: req.hold})
	switch {
	case errors.Is(err, engine.ErrExists) && fresh:
		return problemf(precondition, "%q: %w", req.name, err)
	case errors.Is(err, engine.ErrExists) && !replace:
		return req.require(access.Remove, req.name) // it was made meanwhile
	}
	if err != nil {
		return err
	}
	return req.respondInfo(f, pos, old == nil)
}

// replaceMatching replaces old by in, if the ID of old matches and both have the same hasher:
// clients may have hashed their keys already.
func (req *request) replaceMatching(old *engine.Filter, in umbel.Filter, match string) (engine.Position, error) {
	if err := checkComplete(old); err != nil {
		return 0, err
	}
	return old.Replace(func(f umbel.Filter) (umbel.Filter, error) {
		if !matches(match, hashtree.Identify(f.State())) {
			return nil, problemf(precondition, "the filter has changed; its ID differs from If-Match")
		}
		return in, nil
	})
}
