package httpcache_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// model is RFC 9111 as a list: every response that the origin has sent and that a shared cache may have stored, until the
// RFC demands that it is not used any more. A cache may have fewer responses than the model, and never others. It is
// written from the RFC and uses nothing of the cache. A comment "Exception:" is on each choice of the cache.
type model struct {
	disconnected time.Duration // for which a stale response may be used if the origin can't be reached (section 4.2.4)
	requests     map[string]*http.Request
	versions     []*version
	failures     []failure // since the last call of begin
}

// version is a response with the fields that it has at some time: as it was received, or after an update by a 304.
type version struct {
	id, update          string // the exchanges in which it was received, and updated for the last time
	client              string // whose request was answered in the last of these exchanges
	path                string
	original            http.Header // of the request for which it was received
	authorized          bool        // it depends on the response to a request with Authorization
	status              int
	header              http.Header
	body                string
	requested, received time.Time
	reusable            bool // for the requests of other clients
}

// exchange is what the origin was sent, and its answer.
type exchange struct {
	request             *http.Request
	status              int // 0 if the origin could not be reached
	header              http.Header
	body                string
	requested, received time.Time
	selected            []*version // those that the request could have been answered with, if they were fresh, when it was sent
}

type failure struct {
	path        string
	unreachable bool
}

// begin begins a step in which requests are sent.
func (m *model) begin() { m.failures = nil }

// receive notes an answer of the origin.
func (m *model) receive(x exchange) {
	client := x.request.Header.Get("X-Client")
	q := m.requests[client]
	v := &version{
		id: x.header.Get("X-Id"), update: x.header.Get("X-Update"), client: client, path: q.URL.Path, original: endToEnd(q.Header), authorized: len(q.Header["Authorization"]) > 0,
		status: x.status, header: x.header, body: x.body, requested: x.requested, received: x.received,
	}
	switch x.status {
	case 0:
		m.failures = append(m.failures, failure{v.path, true})
		return
	case 500, 502, 503, 504:
		m.failures = append(m.failures, failure{v.path, false})
	case http.StatusNotModified:
		m.update(v, q, x)
		return
	}
	switch x.request.Method { // of the cache: it validates with GET in the background of a HEAD
	case http.MethodGet:
		whole := len(x.request.Header["Range"]) == 0 || x.status == http.StatusOK && len(x.header["Content-Range"]) == 0
		v.reusable = whole && q.ContentLength == 0 && v.mayBeStored(q)
	case http.MethodHead: // section 4.3.5
		for _, old := range m.selected(x.request) {
			old.reusable = old.reusable && !(x.status == 200 && old.status == 200 && old.contradictedBy(x.header))
		}
	case http.MethodOptions:
	default: // section 4.4
		if x.status >= 200 && x.status < 400 {
			for _, old := range m.versions {
				old.reusable = old.reusable && old.path != v.path
			}
		}
	}
	m.versions = append(m.versions, v)
}

// contradictedBy reports whether an answer to HEAD has another validator or length.
func (v *version) contradictedBy(h http.Header) bool {
	other := func(name, value string) bool { return h.Get(name) != "" && h.Get(name) != value }
	return other("Etag", v.header.Get("Etag")) || other("Last-Modified", v.header.Get("Last-Modified")) || other("Content-Length", strconv.Itoa(len(v.body)))
}

// mayBeStored is section 3, with section 3.5, for a response to GET.
func (v *version) mayBeStored(q *http.Request) bool {
	d, status := v.directives(), v.status
	switch {
	case d.has("no-store") && !(d.has("must-understand") && understands(status)), listed(q.Header["Cache-Control"]).has("no-store"), d.has("private"):
		return false
	case status < 200, status == 206, status == 304, d.has("must-understand") && !understands(status):
		return false
	case forOneRequest(status):
		return false
	case strings.ContainsAny(v.header.Get("Vary"), "*("): // section 4.1: it would never match, or its names are not valid
		return false
	case len(v.header["Set-Cookie"]) > 0: // Exception: responses with cookies are not stored.
		return false
	case v.authorized && !d.has("must-revalidate") && !d.has("public") && !d.has("s-maxage"):
		return false
	}
	return d.has("public") || v.expires() != nil || d.has("max-age") || d.has("s-maxage") || heuristic(status)
}

// forOneRequest reports whether a status concerns one request and its connection rather than the resource: its
// credentials, conditions, range, size or rate. RFC 6585 forbids to store 428, 429, 431 and 511.
func forOneRequest(status int) bool {
	return slices.Contains([]int{226, 401, 406, 407, 408, 412, 413, 416, 417, 421, 425, 426, 428, 429, 431, 511}, status)
}

// heuristic reports whether a status is cacheable without explicit freshness (RFC 9110, section 15.1).
func heuristic(status int) bool {
	return slices.Contains([]int{200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501}, status)
}

// understands reports whether the cache knows what a status demands from caches.
func understands(status int) bool { return status != 599 }

// selected returns the stored responses that a request selects, fresh or not.
func (m *model) selected(sent *http.Request) (list []*version) {
	q := m.requests[sent.Header.Get("X-Client")]
	for _, v := range m.versions {
		if v.reusable && v.path == q.URL.Path && v.matches(q) == nil {
			list = append(list, v)
		}
	}
	return list
}

// update is sections 3.2, 4.3.3 and 4.3.4: v is a 304.
func (m *model) update(v *version, q *http.Request, x exchange) {
	sent := x.request
	own := slices.Equal(q.Header["If-None-Match"], sent.Header["If-None-Match"]) && slices.Equal(q.Header["If-Modified-Since"], sent.Header["If-Modified-Since"])
	if own { // the client may get it as it is
		m.versions = append(m.versions, v)
	}
	if listed(q.Header["Cache-Control"]).has("no-store") {
		return
	}
	tag, changed := v.header.Get("Etag"), v.header.Get("Last-Modified")
	strong := tag != "" && !strings.HasPrefix(tag, "W/")
	candidates := x.selected
	for _, old := range m.selected(sent) {
		if !slices.Contains(candidates, old) {
			candidates = append(candidates, old)
		}
	}
	identified := slices.DeleteFunc(candidates, func(old *version) bool {
		switch {
		case strong:
			return old.header.Get("Etag") != tag
		case tag != "":
			return weak(old.header.Get("Etag")) != weak(tag)
		case valid(changed):
			return old.header.Get("Last-Modified") != changed
		}
		// Exception: a 304 without validators confirms the response whose validators the cache has sent.
		modified := old.header.Get("Last-Modified")
		if !valid(modified) {
			modified = ""
		}
		return sent.Header.Get("If-None-Match") != old.header.Get("Etag") || sent.Header.Get("If-Modified-Since") != modified
	})
	for _, old := range identified {
		now := *old
		now.update, now.client, now.requested, now.received = v.update, v.client, v.requested, v.received
		now.authorized = old.authorized || v.authorized
		now.header = old.header.Clone()
		delete(now.header, "Age")
		delete(now.header, "Date")
		for name, values := range v.header {
			if !slices.Contains([]string{"Content-Length", "Content-Encoding", "Content-Range", "Connection", "Keep-Alive"}, name) {
				now.header[name] = values
			}
		}
		now.reusable = now.mayBeStored(q)
		m.versions = append(m.versions, &now)
		if strong || len(identified) == 1 { // otherwise only the most recent of those that are stored is updated
			old.reusable = false
		}
	}
}

// valid reports whether a date is one.
func valid(date string) bool {
	_, err := http.ParseTime(date)
	return err == nil
}

// permits returns nil if a client may get an answer now, or why not.
func (m *model) permits(q *http.Request, a *http.Response, now time.Time) error {
	id, update := a.Header.Get("X-Id"), a.Header.Get("X-Update")
	if id == "" && update == "" {
		return m.permitsError(q, a)
	}
	errs := []error{fmt.Errorf("status %d, X-Id %s, X-Update %s", a.StatusCode, id, update)}
	for _, v := range m.versions {
		if v.id != id || v.update != update {
			continue
		}
		err := v.sentAs(q, a)
		if err == nil && v.client != q.Header.Get("X-Client") { // otherwise it was received or validated for this request
			err = m.reuse(v, q, now)
			if want := strconv.Itoa(int(v.age(now) / time.Second)); err == nil && a.Header.Get("Age") != want {
				err = fmt.Errorf("Age is %s, want %s", a.Header.Get("Age"), want)
			}
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// permitsError is permits for an answer of the cache itself.
func (m *model) permitsError(q *http.Request, a *http.Response) error {
	failed := slices.ContainsFunc(m.failures, func(f failure) bool { return f.path == q.URL.Path && f.unreachable })
	switch {
	case a.StatusCode == http.StatusGatewayTimeout && listed(q.Header["Cache-Control"]).has("only-if-cached"):
	case a.StatusCode == http.StatusBadGateway && failed:
	default:
		return fmt.Errorf("an answer with status %d that the origin has not sent", a.StatusCode)
	}
	return nil
}

// reuse returns nil if a stored response may be used for a request now: section 4.
func (m *model) reuse(v *version, q *http.Request, now time.Time) error {
	d, asked := v.directives(), listed(q.Header["Cache-Control"])
	if len(asked) == 0 {
		asked = listed(q.Header["Pragma"])
	}
	err := v.matches(q)
	switch {
	case !v.reusable:
		return errors.New("it must not be stored, or was updated or invalidated")
	case v.path != q.URL.Path || q.Method != http.MethodGet && q.Method != http.MethodHead:
		return errors.New("another method or URL")
	case err != nil:
		return err
	case d.has("no-cache"): // Exception: with field names as well
		return errors.New("no-cache")
	case asked.has("no-cache"):
		return errors.New("the request has no-cache")
	}
	age := v.age(now)
	stale := age - v.lifetime()
	demanded := asked.has("max-age") && age > asked.seconds("max-age") || asked.has("min-fresh") && -stale < asked.seconds("min-fresh")
	if stale < 0 && !demanded {
		return nil
	}
	if d.has("must-revalidate") || d.has("proxy-revalidate") || d.has("s-maxage") {
		return fmt.Errorf("stale since %v, and must be validated", stale)
	}
	if !demanded && (asked.has("max-stale") && (asked["max-stale"] == "" || stale <= asked.seconds("max-stale")) ||
		d.has("stale-while-revalidate") && stale < d.seconds("stale-while-revalidate")) {
		return nil
	}
	for _, f := range m.failures {
		if f.path == v.path && (f.unreachable && stale <= m.disconnected || d.has("stale-if-error") && stale <= d.seconds("stale-if-error") ||
			asked.has("stale-if-error") && stale <= asked.seconds("stale-if-error")) {
			return nil
		}
	}
	return fmt.Errorf("age %v, stale since %v, a request with %v", age, stale, asked)
}
