package siblings

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Path is the path below which a sidecar has what is for siblings: its publication and its description.
const Path = "/.well-known/umbel-siblings"

// Handler returns the sidecar: the upstream of a cache, of any program. It answers what the cache could not, from siblings or
// the origin, as Transport does. The error is that of an origin that is not a scheme and a host.
func (m *Mesh) Handler(origin *url.URL) (http.Handler, error) {
	if err := checkAddress(origin); err != nil {
		return nil, err
	}
	transport := newTransport()
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = origin.Scheme, origin.Host
			if m.o.Host != "" {
				p.Out.Host = m.o.Host
			}
			// The sidecar adds no address of its own: the cache states who its client is.
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if values := p.In.Header[name]; values != nil {
					p.Out.Header[name] = values
				}
			}
		},
		Transport:    m.Transport(transport),
		BufferPool:   &buffers{},
		ErrorHandler: m.unreachable,
	}, nil
}

// settle is the time without a failure after which an answer ends the fault that the origin can't be reached.
const settle = 2 * time.Second

// unreachable answers if the origin can't be reached.
func (m *Mesh) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		m.counters.errors.Add(1)
		m.unreachedBy.Store(new(err.Error()))
		m.unreached.Failed(m.o.Log).Warn("the origin can't be reached", "error", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Cache-Status", m.status("; fwd=miss; detail=origin-unreachable"))
	http.Error(w, "the origin can't be reached", http.StatusBadGateway)
}

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

// Publication returns the handler of the paths below Path, for siblings:
//
//	GET Path/head, Path/objects/NAME   the publication (package share/web)
//	GET Path/peer                      the signed address of the cache
//	POST Path/absent                   the URLs of responses that a sibling did not find, one per line
//
// Requests without the token get status 403. If Options.SquidDigest is set, it also serves SquidDigestPath, without a token.
func (m *Mesh) Publication() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.StripPrefix(Path, m.publication))
	mux.HandleFunc("GET "+Path+"/peer", m.servePeer)
	mux.HandleFunc("POST "+Path+"/absent", m.serveAbsent)
	want := sha256.Sum256([]byte("Bearer " + m.o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.o.SquidDigest && r.URL.Path == SquidDigestPath {
			m.serveSquidDigest(w, r)
			return
		}
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 0 {
			m.counters.forbidden.Add(1)
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "this is for siblings: the request has no valid token", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "private")
		mux.ServeHTTP(privateWriter{w}, r)
	})
}

// privateWriter keeps a cache that is in front from storing an answer, which package share/web permits, and from giving it to clients
// without the token.
type privateWriter struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (w privateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader begins the answer.
func (w privateWriter) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer.
func (w privateWriter) Write(b []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(b)
}

// begin changes the header. Once the answer has begun, that has no effect.
func (w privateWriter) begin() {
	h := w.Header()
	h.Set("Cache-Control", strings.Replace(h.Get("Cache-Control"), "public", "private", 1))
}

// servePeer answers with the description of this node.
func (m *Mesh) servePeer(w http.ResponseWriter, _ *http.Request) {
	if m.o.Cache == nil {
		http.Error(w, "the address of the cache is not set", http.StatusNotFound)
		return
	}
	b, err := describe(&m.o)
	if err != nil {
		http.Error(w, "the description can't be signed", http.StatusInternalServerError)
		return
	}
	w.Write(b)
}

// Sidecar returns the handler of one listener for both: Publication for OwnPath, and Handler for everything else.
func (m *Mesh) Sidecar(origin *url.URL) (http.Handler, error) {
	h, err := m.Handler(origin)
	if err != nil {
		return nil, errors.New("the origin: " + strings.TrimPrefix(err.Error(), "siblings: "))
	}
	publication := m.Publication()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.OwnPath(r.URL.Path) {
			publication.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}), nil
}
