package siblings

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/hop"
	"github.com/umbel-filters/umbel/internal/httptarget"
)

// proxy is the sidecar: the upstream of a cache. What it forwards stays as it is, except for what RFC 9110 and RFC 9112
// require a proxy to change (package hop).
type proxy struct {
	mesh      *Mesh
	origin    *url.URL
	transport http.RoundTripper
}

// Handler returns the sidecar: the upstream of a cache, of any program. It answers what the cache could not, from siblings or
// the origin, as Transport does. The error is that of an origin that is not a scheme and a host.
func (m *Mesh) Handler(origin *url.URL) (http.Handler, error) {
	if err := checkAddress(origin); err != nil {
		return nil, err
	}
	t := newTransport()
	t.MaxResponseHeaderBytes = 256 << 10 // the origin is trusted more than siblings, and what it sends should pass
	return &proxy{m, origin, m.Transport(whole{hop.Transport(t), m})}, nil
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, err := httptarget.Received(r)
	var to *url.URL
	if err == nil {
		to, err = httptarget.On(p.origin, target)
	}
	if err != nil {
		p.mesh.refuse(w, http.StatusBadRequest, "detail=bad-request", err.Error())
		return
	}
	if !hop.Forwards(r) {
		if r.Method == http.MethodTrace {
			p.mesh.refuse(w, http.StatusMethodNotAllowed, "detail=max-forwards", "TRACE ends here")
			return
		}
		w.Header().Set("Cache-Status", p.mesh.status("; detail=max-forwards"))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	hop.Proxy{
		Transport: p.transport, Buffers: copying, Fail: p.fail,
		Request: func(out *http.Request) {
			out.URL = to
			via := fmt.Sprintf("%d.%d %s", r.ProtoMajor, r.ProtoMinor, p.mesh.pseudonym)
			out.Header["Via"] = append(slices.Clip(out.Header["Via"]), via)
			if h := p.mesh.o.Host; h != "" {
				out.Host = h
			}
		},
	}.ServeHTTP(w, r)
}

// settle is the time without a failure after which an answer ends the fault that the origin can't be reached.
const settle = 2 * time.Second

// fail answers if the origin did not. A fault of the client is none of the origin.
func (p *proxy) fail(w http.ResponseWriter, _ *http.Request, err error) {
	m := p.mesh
	if client := (*hop.ClientError)(nil); errors.As(err, &client) {
		m.refuse(w, client.Status, "detail=bad-request", client.Error())
		return
	}
	m.counters.errors.Add(1)
	text := err.Error()
	m.unreachedBy.Store(&text)
	log := m.unreached.Failed(m.o.Log)
	if errors.Is(err, hop.ErrMalformed) {
		log.Warn("the answer of the origin is malformed", event.OriginFailed, "error", err)
		m.refuse(w, http.StatusBadGateway, "fwd=miss; detail=origin-malformed", err.Error())
		return
	}
	log.Warn("the origin can't be reached", event.OriginFailed, "error", err)
	m.refuse(w, http.StatusBadGateway, "fwd=miss; detail=origin-unreachable", "the origin can't be reached")
}

// whole logs answers of the origin that are not whole.
type whole struct {
	next http.RoundTripper
	mesh *Mesh
}

// RoundTrip sends a request.
func (t whole) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &wholeBody{res.Body, r, t.mesh}
	}
	return res, err
}

type wholeBody struct {
	io.ReadCloser
	request *http.Request
	mesh    *Mesh
}

// Unwrap is for hop.Announce.
func (b *wholeBody) Unwrap() io.ReadCloser { return b.ReadCloser }

// Read reads the body.
func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch m := b.mesh; {
	case err == nil:
	case err == io.EOF:
		m.cut.Succeed()
	case b.request.Context().Err() == nil:
		m.cut.Failed(m.o.Log).Warn("the answer of the origin is incomplete", event.OriginIncomplete, "error", broken(err))
	}
	return n, err
}

// refuse answers with an error of the sidecar itself, which caches must not store.
func (m *Mesh) refuse(w http.ResponseWriter, status int, parameters, text string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Cache-Status", m.status("; "+parameters))
	http.Error(w, text, status)
}

// copying has the buffers for copying bodies.
var copying = &buffers{}

// buffers are for copying bodies.
type buffers struct{ pool sync.Pool }

// Get returns a buffer.
func (b *buffers) Get() []byte {
	if x, ok := b.pool.Get().(*[]byte); ok {
		return *x
	}
	return make([]byte, 32<<10)
}

// Put takes a buffer back.
func (b *buffers) Put(x []byte) { b.pool.Put(&x) }
