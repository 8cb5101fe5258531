package siblings

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Response is a response that a cache stores, as the cache reports it (Options.Reported).
type Response struct {
	// Header is the one with which the response came out of Mesh.Transport.
	Header http.Header
	// Selected are the fields of the request that the response names in Vary, as the request had them.
	Selected http.Header
	// Until is when the response becomes stale.
	Until time.Time
}

// Changed notes that a cache with Options.Reported stores other responses for a URL than before: each list has
// all variants, and is empty if there are none. Responses without the stamp of this node's transport are not published:
// they are private, or their lifetime is not stated. Neither are those that Options.Deny excludes. The calls for one URL
// must be in the order of the changes. It waits for no network, so that the cache may lock the URL meanwhile.
func (m *Mesh) Changed(u *url.URL, before, after []Response) {
	k := KeyOf(u, m.o.Host)
	kept := map[Key]time.Time{}
	if !m.o.Deny(u) {
		for _, r := range after {
			for _, x := range keysOf(k, r) {
				if r.Until.After(kept[x]) {
					kept[x] = r.Until
				}
			}
		}
	}
	for _, r := range before {
		for _, x := range keysOf(k, r) {
			if _, ok := kept[x]; !ok {
				m.held.Removed(x)
			}
		}
	}
	for x, until := range kept {
		m.Added(x, until)
	}
	for i, r := range after {
		vary, _ := varyOf(r.Header)
		if i == 0 {
			m.varies.set(m.held.hash(k), vary)
		}
		m.noteSquid(k, vary, r.Selected)
	}
}

// keysOf returns the keys under which a stored response of key k is published, none if siblings must not have it.
func keysOf(k Key, r Response) []Key {
	c := parseControl(r.Header)
	vary, ok := varyOf(r.Header)
	if _, marked := parseStamp(r.Header.Get(StampHeader)); !ok || !marked || c.noStore || c.noCache || c.private {
		return nil
	}
	if len(vary) == 0 {
		return []Key{k}
	}
	return []Key{k, k.Variant(vary, r.Selected)}
}

// Cache returns the handler of a cache whose transport is this mesh. Requests of siblings (HopHeader) are answered from the store only:
// with a stamp that has the age of now, or with 504. A cache that is the handler of a process of its own needs it instead of
// Sidecar.
func (m *Mesh) Cache(store http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header[HopHeader] == nil {
			store.ServeHTTP(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Set("Cache-Control", "only-if-cached, min-fresh=1") // a stale response would cause a validation
		a := &hopAnswer{ResponseWriter: w, mesh: m}
		store.ServeHTTP(a, r)
		a.begin(http.StatusOK)
	})
}

// hopAnswer is the answer to a sibling.
type hopAnswer struct {
	http.ResponseWriter
	mesh  *Mesh
	begun bool
}

// Unwrap is for http.ResponseController.
func (a *hopAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader begins the answer.
func (a *hopAnswer) WriteHeader(status int) {
	if status >= http.StatusOK {
		a.begin(status)
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the body.
func (a *hopAnswer) Write(b []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.ResponseWriter.Write(b)
}

// begin changes the header before it is sent.
func (a *hopAnswer) begin(status int) {
	if a.begun {
		return
	}
	a.begun = true
	h := a.Header()
	if status == http.StatusGatewayTimeout {
		a.mesh.counters.hops.Add(1)
		h.Set(HopHeader, a.mesh.name)
	}
	s, ok := parseStamp(h.Get(StampHeader))
	if !ok {
		return
	}
	// The stamp is that of the time when the response was stored. A validation made the response younger, but
	// not the stamp. Age is rounded down, and so it is a second more here.
	age, _, _ := strings.Cut(h.Get("Age"), ",")
	s.at, s.age, s.life = time.Now(), seconds(age)+time.Second, lifetime(h, parseControl(h))
	h.Set(StampHeader, s.String())
}
