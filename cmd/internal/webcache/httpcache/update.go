package httpcache

import (
	"errors"
	"net/http"
	"os"
	"time"
)

// refresh updates the stored response of a flight by a 304, and answers with it. What is stored changes first, so that no client
// that has waited finds the response before.
func (c *Cache) refresh(f *flight, out, r *http.Request, selecting, update http.Header, t target, requested, received time.Time) {
	s, keep := c.updated(f.old, selecting, f.asked, update, requested, received)
	if !keep {
		if content, err := s.body.open(); err == nil {
			s.body = held{s.body, content} // the leader reads it after it has been removed
		}
	}
	stored := c.replace(f.old, s, keep, selecting, f.valid)
	if !stored && keep { // another response may be stored with the same tag
		c.learn(t, r, out.Header, http.StatusNotModified, update, requested)
	}
	c.decide(f, result{answer: s, only: !keep, how: "fwd=" + f.reason + "; fwd-status=304", kind: validated})
	c.land(f, func() {
		if stored {
			c.save(s)
		}
	})
}

// held is a body that was opened for one answer, which closes it.
type held struct {
	body
	content content
}

func (h held) open() (content, error) { return h.content, nil }

// updated returns a stored response with the fields of a 304 to a request, which change everything that is decided with them.
// Without keep it is for the client of this request only, and must not be stored.
func (c *Cache) updated(old *stored, request http.Header, asked *directives, update http.Header, requested, received time.Time) (s *stored, keep bool) {
	h := merged(old.header, update)
	d := responseDirectives(h, c.origin != nil)
	p := newPolicy(old.status, h, d, requested, received)
	authorized := old.authorized || len(request["Authorization"]) > 0
	// Later requests have to match the one for which the response was received (RFC 9111, section 4.1). If Vary has a new name, its
	// value in that request is not known.
	keep = storable(authorized, asked, old.status, h, &d, &p) && old.knows(varyNames(h["Vary"]))
	s = newStored(old.key, old.selected, authorized, old.status, h, p)
	s.body = old.body
	return s, keep
}

// replace stores a response that was validated by a request instead of all that the request selects, or removes those: the 304 is
// about each of them that has the same tag. It returns false if the response is not stored: without keep, or because the one
// before is not stored any more. Otherwise save must be called.
func (c *Cache) replace(old, s *stored, keep bool, request http.Header, valid func() bool) bool {
	if !keep {
		for _, v := range append(c.index.selected(s.key, request), old) {
			c.index.drop(v)
		}
		return false
	}
	if p := s.policy; p.usable(&noDirectives, p.received) == useValidated {
		c.passing.Set(s.key, struct{}{})
	}
	return c.index.put(s, request, old, valid)
}

// save stores the fields of a response that replace has stored.
func (c *Cache) save(s *stored) {
	if err := c.bodies.update(s); err != nil {
		c.index.drop(s) // otherwise the next start would find the fields before
		if !errors.Is(err, os.ErrNotExist) {
			c.unstored(err)
		}
	}
}

// learn applies what an answer of the origin to a GET or HEAD says about stored responses that it does not come from: a 304
// updates the one that it identifies (RFC 9111, section 4.3.4), and an answer to HEAD with another validator or length removes
// those that it contradicts (section 4.3.5).
func (c *Cache) learn(t target, r *http.Request, sent http.Header, status int, h http.Header, requested time.Time) {
	head := status == http.StatusOK && r.Method == http.MethodHead
	if !head && (status != http.StatusNotModified || r.Method != http.MethodGet && r.Method != http.MethodHead) {
		return
	}
	for _, s := range c.index.selected(t.key, r.Header) {
		switch {
		case head && s.contradicts(h):
			c.index.drop(s)
		case !head && s.policy.confirms(h, sent):
			c.confirm(s, r, h, requested)
			return
		}
	}
}

// confirm updates a stored response by a 304 to another request.
func (c *Cache) confirm(old *stored, r *http.Request, update http.Header, requested time.Time) {
	asked := requestDirectives(r.Header)
	if asked.noStore {
		return // nothing of the answer may be stored
	}
	received := time.Now()
	if len(update["Date"]) == 0 {
		update = update.Clone()
		update["Date"] = []string{received.UTC().Format(http.TimeFormat)}
	}
	s, keep := c.updated(old, r.Header, &asked, update, requested, received)
	keep = keep && r.ContentLength == 0 // a body could have changed the answer
	if c.replace(old, s, keep, r.Header, func() bool { return true }) {
		c.save(s)
	}
}

// contradicts reports whether the answer to HEAD has another validator or length than a stored response.
func (s *stored) contradicts(h http.Header) bool {
	for _, name := range []string{"Etag", "Last-Modified", "Content-Length"} {
		if values := h[name]; s.status == http.StatusOK && len(values) > 0 && values[0] != s.header.Get(name) {
			return true
		}
	}
	return false
}
