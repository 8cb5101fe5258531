package httpcache

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"
)

// pass sends a request to the origin and its answer to the client. The answer is not stored.
func (c *Cache) pass(w http.ResponseWriter, r *http.Request, t target, reason string) {
	if r.Method == http.MethodOptions && !forwards(r) {
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c.stats.Passed.Add(1)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = patientBody{r.Body, w}
	}
	w = patientWriter{w}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	proxy := httputil.ReverseProxy{
		Transport:     c.upstream,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // ErrorHandler logs; clients that go away are no faults
		Rewrite: func(p *httputil.ProxyRequest) {
			to := *t.url
			p.Out.URL, p.Out.Host = &to, to.Host
			if safe {
				removeUnkeyed(p.Out.Header)
			}
			appendField(p.Out.Header, "Via", via(r.ProtoMajor, r.ProtoMinor, c.pseudonym))
		},
		ModifyResponse: func(res *http.Response) error {
			appendField(res.Header, "Via", via(res.ProtoMajor, res.ProtoMinor, c.pseudonym))
			appendField(res.Header, "Cache-Status", c.name+"; "+forwardStatus(reason, res.StatusCode, false))
			if !safe && res.StatusCode >= 200 && res.StatusCode < 400 {
				c.invalidate(t, res.Header)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, context.Canceled) { // the client has gone
				panic(http.ErrAbortHandler)
			}
			c.unreachable(t, err, false)
			status, text := statusOf(err)
			c.fail(w, status, text)
		},
	}
	proxy.ServeHTTP(w, r)
}

// forwards reports whether Max-Forwards lets a request pass, and decrements it (RFC 9110, section 7.6.2).
func forwards(r *http.Request) bool {
	values := r.Header["Max-Forwards"]
	if len(values) != 1 {
		return true
	}
	n, ok := digits(values[0])
	if !ok {
		return true
	}
	if n > 0 {
		r.Header["Max-Forwards"] = []string{strconv.FormatInt(n-1, 10)}
	}
	return n > 0
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
				f.noStore = true
				c.removeFlight(f)
			}
		}
		c.mu.Unlock()
		if c.index.remove(key) {
			c.stats.Invalidated.Add(1)
		}
	}
}

// patientBody gives a client sendPatience for the next bytes of its request.
type patientBody struct {
	io.ReadCloser
	w http.ResponseWriter
}

func (b patientBody) Read(p []byte) (int, error) {
	control := http.NewResponseController(b.w)
	_ = control.SetReadDeadline(time.Now().Add(sendPatience))
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = control.SetReadDeadline(time.Time{}) // otherwise a long answer would end with it
	}
	return n, err
}

// patientWriter gives a client sendPatience for the next bytes of the answer.
type patientWriter struct{ http.ResponseWriter }

func (w patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w patientWriter) Write(p []byte) (int, error) {
	extend(w.ResponseWriter)
	return w.ResponseWriter.Write(p)
}
