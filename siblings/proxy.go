package siblings

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/httptarget"
)

// proxy is the sidecar: the upstream of a cache. What it forwards stays as it is, except for what RFC 9110 and RFC 9112
// require a proxy to change.
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
	return &proxy{m, origin, m.Transport(newTransport())}, nil
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
	forward := httputil.ReverseProxy{
		Rewrite:      func(x *httputil.ProxyRequest) { p.rewrite(x, to) },
		Transport:    p.transport,
		BufferPool:   copying,
		ErrorHandler: p.unreachable,
	}
	forward.ServeHTTP(w, r)
}

// rewrite makes the request for the origin.
func (p *proxy) rewrite(x *httputil.ProxyRequest, to *url.URL) {
	x.Out.URL = to
	if h := p.mesh.o.Host; h != "" {
		x.Out.Host = h
	}
	// The sidecar adds no address of its own: the cache states who its client is.
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values := x.In.Header[name]; values != nil {
			x.Out.Header[name] = values
		}
	}
}

// settle is the time without a failure after which an answer ends the fault that the origin can't be reached.
const settle = 2 * time.Second

// unreachable answers if the origin can't be reached.
func (p *proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	m := p.mesh
	if r.Context().Err() == nil {
		m.counters.errors.Add(1)
		m.unreachedBy.Store(new(err.Error()))
		m.unreached.Failed(m.o.Log).Warn("the origin can't be reached", "error", err)
	}
	m.refuse(w, http.StatusBadGateway, "fwd=miss; detail=origin-unreachable", "the origin can't be reached")
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
