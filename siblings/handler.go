package siblings

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Path is the path below which a sidecar has what is for siblings: its publication and its description.
const Path = "/.well-known/umbel-siblings"

// bodyTime is how long the body of a request may take, which is at most a report.
const bodyTime = time.Minute

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
		if r.ContentLength != 0 { // the server reads the body before it answers, also one that nobody wants
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
		}
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
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the publication may be large, and its reader far away
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
		return nil, fmt.Errorf("the origin: %w", err)
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
