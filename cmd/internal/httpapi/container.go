package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// sendContainer answers with the container of a filter, or parts of it, or that the client
// has it.
func (c *call) sendContainer(f *engine.Filter, form string) error {
	if form != "" && form != packed {
		return problemf(notAcceptable, "form %q of a container isn't known: there is %s, and the canonical one without a form", clip(form), packed)
	}
	if err := c.maySee(f.Hasher(), c.name); err != nil {
		return err
	}
	if err := complete(f); err != nil {
		return err
	}
	if f.Hasher().Secret() {
		c.record(c.name, nil) // who has it knows the seed
	}
	h := c.Header()
	h.Set("Cache-Control", "private, no-cache")
	if id, known := c.copies.known(f); known {
		if tag := etagOf(id, form); notModified(c.request, tag) {
			h.Set("Etag", tag)
			c.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	k, err := c.copies.get(c.request.Context(), f, form)
	if err != nil {
		return err
	}
	defer c.copies.put(k)
	contentType := mediaContainer
	if form != "" {
		contentType += "; form=" + form
	}
	h.Set("Content-Type", contentType)
	h.Set("Etag", etagOf(k.id, form))
	http.ServeContent(c.answer, c.request, "", time.Time{}, io.NewSectionReader(k.data, 0, k.size))
	return nil
}

// notModified reports whether the client has what has this tag. It is what ServeContent
// asks too, before there is a copy to ask it of.
func notModified(r *http.Request, tag string) bool {
	return r.Header.Get("If-Match") == "" && headerHas(r.Header.Get("If-None-Match"), tag)
}

// limits returns what a container that comes in may ask for. Its memory is held: what it is to
// replace is there until it has come.
func (c *call) limits() wire.Limits {
	l := wire.Limits{Bytes: c.MaxBytes, Reserve: c.hold.Take}
	if used, most := c.Engine.Memory(); most > 0 {
		l.Bytes = min(l.Bytes, max(most-min(used, most), 1)) // 0 would be the default
	}
	return l
}

// readContainer reads a body that is a container, and returns the filter in it.
func (c *call) readContainer() (umbel.Filter, error) {
	l := c.limits()
	s, err := wire.Read(c.streamed(), l)
	switch {
	case errors.Is(err, engine.ErrMemory):
		return nil, err
	case errors.Is(err, umbel.ErrLimit) && l.Bytes < c.MaxBytes:
		return nil, fmt.Errorf("%w: %w", err, engine.ErrMemory)
	case errors.Is(err, umbel.ErrLimit):
		return nil, &fault{tooLarge, err}
	case err != nil:
		return nil, err
	}
	return c.Engine.Kinds().Open(s)
}

// takeContainer makes the filter that a container holds, in the place of one that may be
// there unless the client says otherwise.
func (c *call) takeContainer() error {
	fresh, err := onlyNew(c.request)
	if err != nil {
		return err
	}
	match := c.request.Header.Get("If-Match")
	old := c.Engine.Get([]byte(c.name))
	switch {
	case old == nil && match != "":
		return problemf(precondition, "there is no filter %q", c.name)
	case old == nil:
	case fresh:
		return problemf(precondition, "%q: %w", c.name, engine.ErrExists)
	default:
		if err := c.may(access.Remove, c.name); err != nil {
			return err
		}
	}
	in, err := c.readContainer()
	if err != nil {
		return err
	}
	if match != "" {
		pos, err := c.swap(old, in, match)
		if err != nil {
			return err
		}
		return c.made(old, pos, false)
	}
	c.hold.Free() // it is the engine's
	f, pos, err := c.Engine.Put(c.name, in, old != nil, false)
	if errors.Is(err, engine.ErrExists) && fresh {
		return problemf(precondition, "%q: %w", c.name, err)
	}
	if err != nil {
		return err
	}
	return c.made(f, pos, old == nil)
}

// swap puts one filter in the place of another that is as the client says, and hashes as
// it: who asks meanwhile has hashed its keys already.
func (c *call) swap(old *engine.Filter, in umbel.Filter, match string) (engine.Position, error) {
	if old.Hidden() {
		return 0, complete(old)
	}
	return old.Update(func(f umbel.Filter) (umbel.Filter, error) {
		if !matches(match, wire.Identify(f.State())) {
			return nil, problemf(precondition, "the filter has changed: its ID isn't that of If-Match")
		}
		return in, nil
	})
}
