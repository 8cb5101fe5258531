package httpcache

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
)

// pass sends a request to the origin and its answer to the client. The answer is not stored.
func (c *Cache) pass(w http.ResponseWriter, r *http.Request, t target, reason string) {
	if !hop.Forwards(r) { // TRACE does not come here
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c.stats.Passed.Add(1)
	requested := time.Now()
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	hop.Proxy{
		Transport: c.upstream,
		Request: func(out *http.Request) {
			out.URL, out.Host = t.url, t.url.Host
			c.stateScheme(out.Header)
			appendField(out.Header, "Via", via(r.ProtoMajor, r.ProtoMinor, c.pseudonym))
		},
		Answer: func(res *http.Response) {
			appendField(res.Header, "Via", via(res.ProtoMajor, res.ProtoMinor, c.pseudonym))
			c.learn(t, r, r.Header, res.StatusCode, res.Header, requested)
			appendField(res.Header, "Cache-Status", c.name+"; "+forwardStatus(reason, res.StatusCode, false))
			if !safe && res.StatusCode >= 200 && res.StatusCode < 400 {
				c.invalidate(t, res.Header)
			}
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			var client *hop.ClientError
			if errors.As(err, &client) {
				c.fail(w, client.Status, client.Error())
				return
			}
			c.unreachable(t, err, false)
			status, text := statusOf(err)
			c.fail(w, status, text)
		},
		Patience: sendPatience,
	}.ServeHTTP(w, r)
}

// invalidate removes the stored responses that a successful unsafe request has changed: those for its URL, and for the
// URLs of the same origin in Location and Content-Location (RFC 9111, section 4.4).
func (c *Cache) invalidate(t target, h http.Header) {
	keys := []string{t.key}
	for _, name := range []string{"Location", "Content-Location"} {
		for _, reference := range h[name] {
			if key, ok := t.resolve(reference); ok {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range keys {
		c.mu.Lock()
		for _, f := range c.flights { // what they fetch may be older than the change
			if strings.HasPrefix(f.key, key+"\n") {
				f.invalidated.Store(true)
				c.removeFlight(f)
			}
		}
		c.mu.Unlock()
		if !c.loaded.Load() {
			c.unread.Store(key, struct{}{})
		}
		if c.index.remove(key) {
			c.stats.Invalidated.Add(1)
		}
	}
}
