package siblings

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/httptarget"
)

// maxTried is the number of siblings that are tried for one request.
const maxTried = 2

// transport is the way of a request that the cache in front could not answer.
type transport struct {
	mesh   *Mesh
	origin http.RoundTripper
}

// Transport returns a transport that tries siblings before the origin. It belongs behind a cache: what reaches it is a
// miss there, and responses that may be shared count as stored when their body has been read to its end.
//
// The request of a sibling (HopHeader) is answered with status 504 and no-store: the cache does not hold
// the response, and a second sibling is never tried for the first one. Requests whose answer must
// come from the origin go there only: other methods than GET and HEAD, conditional requests, ranges, those with Authorization or
// with no-cache, and URLs that Options.Deny excludes.
func (m *Mesh) Transport(origin http.RoundTripper) http.RoundTripper { return transport{m, origin} }

// RoundTrip answers a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	m := t.mesh
	m.counters.requests.Add(1)
	why := m.bypass(r)
	hop := r.Header[HopHeader] != nil
	if why != "" && !hop {
		return t.pass(r, Key(""), why)
	}
	k := m.Key(r)
	vary := m.varies.of(m.held.hash(k))
	variant := k.Variant(vary, r.Header)
	if why == "" && r.Method == http.MethodGet {
		m.missed(k, variant)
	}
	if hop {
		m.counters.hops.Add(1)
		closeBody(r)
		return notHeld(r, HopHeader, m.name), nil
	}
	if res := t.fromSiblings(r, wanted{k, variant, vary, r.Header}); res != nil {
		closeBody(r)
		return res, nil
	}
	if parseControl(r.Header).onlyIfCached {
		closeBody(r)
		return notHeld(r, "Cache-Status", m.status("; fwd=uri-miss")), nil
	}
	return t.pass(r, k, "uri-miss")
}

// bypass returns why a request must go to the origin, as a value of fwd (RFC 9211), and "" if siblings may answer it.
func (m *Mesh) bypass(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "method"
	}
	h := r.Header
	for _, name := range [...]string{
		"Authorization", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Upgrade",
	} {
		if h[name] != nil {
			return "request"
		}
	}
	if h["Cookie"] != nil && !m.o.Cookies || r.ContentLength != 0 || m.o.Deny(r.URL) {
		return "bypass"
	}
	if h["Cache-Control"] != nil {
		if c := parseControl(h); c.noCache || c.noStore || c.minFresh || c.maxAge == 0 {
			return "request"
		}
	} else if strings.Contains(strings.ToLower(h.Get("Pragma")), "no-cache") {
		return "request"
	}
	return ""
}

// missed notes that a request was not answered by the cache. If the response was thought to be held, it was
// evicted. Other variants of it are published again when they are stored again.
func (m *Mesh) missed(k, variant Key) {
	if !m.o.Reported && m.held.Removed(variant) {
		m.counters.evicted.Add(1)
		if variant != k {
			m.held.Removed(k)
		}
	}
}

// fromSiblings returns the response of a sibling, nil if none may be used.
func (t transport) fromSiblings(r *http.Request, w wanted) *http.Response {
	m := t.mesh
	var buffer [8]*peer
	peers := m.holding(buffer[:0], w)
	end := time.Now().Add(m.o.Patience)
	for _, x := range peers[:min(len(peers), maxTried)] {
		res, s, how := m.fetch(x, r, time.Until(end))
		if how == abandoned {
			return nil
		}
		if how != hit {
			continue
		}
		res.Header.Del("X-Accel-Expires") // it is for the cache of the sibling
		res.Header.Set("Cache-Status", m.status("; hit; ttl="+seconds10(s.life-s.age)+"; detail="+quote(x.Name)))
		res.Request = r
		if b, ok := res.Body.(*body); ok { // not of a HEAD
			begun, length := res.Header, res.ContentLength
			b.others = func(n int64) io.ReadCloser { return t.rest(r, begun, length, n) }
		}
		m.deliver(r, res, w.key, s, true)
		return res
	}
	return nil
}

// pass returns the response of the origin. k is empty if the response must not be published.
func (t transport) pass(r *http.Request, k Key, why string) (*http.Response, error) {
	m := t.mesh
	m.counters.origin.Add(1)
	if r.Header[HopHeader] != nil {
		r = r.Clone(r.Context())
		r.Header.Del(HopHeader)
	}
	requested := time.Now()
	res, err := t.origin.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	m.unreached.Succeeded(m.o.Log).Info("the origin answers again", event.OriginRecovered)
	arrived := time.Now()
	h := res.Header
	h.Del(HopHeader)
	h.Del(StampHeader)
	h.Add("Cache-Status", m.status("; fwd="+why))
	vary, ok := varyOf(h)
	if life := shareable(r, res); life > 0 && ok {
		s := stamp{arrived, ageOf(h, requested, arrived), life, variantOf(vary, r.Header)}
		if k == "" && !m.o.Deny(r.URL) && r.Header["Range"] == nil && r.ContentLength == 0 { // for example no-cache, after which the cache stores the response too
			k = m.Key(r)
		}
		m.deliver(r, res, k, s, false)
	}
	return res, nil
}

// deliver prepares a response that siblings may have for the cache in front, and notes it when its body has been read.
func (m *Mesh) deliver(r *http.Request, res *http.Response, k Key, s stamp, sibling bool) {
	res.Header.Set(StampHeader, s.String())
	m.o.Freshness.apply(res.Header, s, sibling)
	if m.o.Reported || k == "" || r.Method != http.MethodGet || s.age >= s.life {
		return
	}
	vary, _ := varyOf(res.Header)
	until := s.at.Add(s.life - s.age)
	selected := r.Header
	res.Body = &observed{res.Body, func() {
		m.varies.set(m.held.hash(k), vary)
		m.Added(k, until)
		if len(vary) > 0 {
			m.Added(k.Variant(vary, selected), until)
		}
		m.noteSquid(k, vary, selected)
		m.samples.add(sample{k, httptarget.Of(r.URL), m.hostOf(r)}, len(vary) == 0)
	}}
}

// observed is a body that calls a function when it has been read to its end. A cache stores no shorter one.
type observed struct {
	io.ReadCloser
	ended func()
}

// Unwrap is for hop.Announce.
func (o *observed) Unwrap() io.ReadCloser { return o.ReadCloser }

// Read reads the body.
func (o *observed) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if err == io.EOF && o.ended != nil {
		o.ended()
		o.ended = nil
	}
	return n, err
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}
