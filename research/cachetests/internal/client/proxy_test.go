package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy is a small cache for the tests of this package. It passes testdata/tests.json unless it has one of the
// faults.
type proxy struct {
	origin string
	faults map[string]bool

	mu     sync.Mutex
	stored map[string]stored
}

type stored struct {
	status int
	header http.Header
	body   []byte
	at     time.Time
}

// newProxy starts a proxy and returns its URL.
func newProxy(t *testing.T, origin string, faults ...string) string {
	p := &proxy{origin: origin, faults: map[string]bool{}, stored: map[string]stored{}}
	for _, f := range faults {
		p.faults[f] = true
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.URL.String()
	if p.faults["ignores the query"] {
		key = r.URL.Path
	}
	p.mu.Lock()
	old, ok := p.stored[key]
	if r.Method == http.MethodPost && !p.faults["keeps after POST"] {
		delete(p.stored, key)
	}
	p.mu.Unlock()
	safe := r.Method == http.MethodGet
	if safe && ok && (old.fresh() || p.faults["ignores freshness"]) {
		p.write(w, r, old, false)
		return
	}
	condition := http.Header{}
	if safe && ok && !p.faults["never validates"] {
		if v := old.header.Get("ETag"); v != "" {
			condition.Set("If-None-Match", v)
		} else if v := old.header.Get("Last-Modified"); v != "" {
			condition.Set("If-Modified-Since", v)
		}
	}
	got, err := p.fetch(w, r, condition)
	if p.faults["repeats requests"] && safe && ok && err == nil {
		got, err = p.fetch(w, r, condition)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if got.status == http.StatusNotModified {
		got.status, got.body = old.status, old.body
	}
	if safe && !p.faults["stores nothing"] {
		p.mu.Lock()
		p.stored[key] = got
		p.mu.Unlock()
	}
	p.write(w, r, got, true)
}

// fetch forwards a request with additional fields.
func (p *proxy) fetch(w http.ResponseWriter, r *http.Request, additional http.Header) (stored, error) {
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			if !p.faults["drops interim responses"] {
				w.Header().Set("Link", header.Get("Link"))
				w.WriteHeader(code)
				w.Header().Del("Link")
			}
			return nil
		},
	})
	method := r.Method
	if p.faults["forwards HEAD as GET"] && method == http.MethodHead {
		method = http.MethodGet
	}
	out, err := http.NewRequestWithContext(ctx, method, p.origin+r.URL.String(), r.Body)
	if err != nil {
		return stored{}, err
	}
	out.Header = r.Header.Clone()
	for name := range additional {
		out.Header[name] = additional[name]
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := transport.RoundTrip(out)
	if err != nil {
		return stored{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return stored{response.StatusCode, response.Header, body, time.Now()}, err
}

// write answers with a response of the origin that is new or stored.
func (p *proxy) write(w http.ResponseWriter, r *http.Request, s stored, isNew bool) {
	h := s.header.Clone()
	if !p.faults["forwards fields of the connection"] {
		for _, name := range strings.Split(h.Get("Connection"), ", ") {
			h.Del(name)
		}
	}
	h.Del("Connection")
	if !isNew {
		h.Set("Age", strconv.Itoa(s.age()))
	}
	if p.faults["drops Age"] {
		h.Del("Age")
	}
	if p.faults["drops a line"] {
		h["A"] = h["A"][:min(1, len(h["A"]))]
	}
	if p.faults["changes Location"] && h.Get("Location") != "" {
		h.Set("Location", "/elsewhere")
	}
	status, body := s.status, s.body
	switch {
	case p.faults["changes the status"] && status == http.StatusNotFound:
		status = http.StatusOK
	case p.faults["changes the body"]:
		body = slices.Concat(body, []byte("!"))
		h.Del("Content-Length")
	case !isNew && r.Header.Get("If-Modified-Since") != "" && !p.faults["ignores conditions"]:
		status, body = http.StatusNotModified, nil
	case !isNew && r.Header.Get("Range") == "bytes=0-1" && !p.faults["ignores ranges"]:
		status, body = http.StatusPartialContent, body[:2]
		h.Set("Content-Length", "2")
	}
	for name, values := range h {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	w.Write(body)
}

func (s stored) age() int {
	age, _ := strconv.Atoi(s.header.Get("Age"))
	return age + int(time.Since(s.at).Seconds())
}

func (s stored) fresh() bool {
	lifetime, ok := strings.CutPrefix(s.header.Get("Cache-Control"), "max-age=")
	n, err := strconv.Atoi(lifetime)
	return ok && err == nil && s.age() < n
}
