package httpcache_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// model is RFC 9111 as a list: every response that the origin has sent and that a shared cache may have stored, until the
// RFC demands that it is not used any more. A cache may have fewer responses than the model, and never others. It is
// written from the RFC and uses nothing of the cache. Lines that begin with "Exception:" are choices of the cache.
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
		id: x.header.Get("X-Id"), update: x.header.Get("X-Update"), client: client, path: q.URL.Path, original: q.Header, authorized: len(q.Header["Authorization"]) > 0,
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
	case http.MethodHead, http.MethodOptions:
	default: // section 4.4
		if x.status >= 200 && x.status < 400 {
			for _, old := range m.versions {
				old.reusable = old.reusable && old.path != v.path
			}
		}
	}
	m.versions = append(m.versions, v)
}

// mayBeStored is section 3, with section 3.5, for a response to GET.
func (v *version) mayBeStored(q *http.Request) bool {
	d, status := listed(v.header["Cache-Control"]), v.status
	switch {
	case d.has("no-store") && !(d.has("must-understand") && understands(status)), listed(q.Header["Cache-Control"]).has("no-store"), d.has("private"):
		return false
	case status < 200, status == 206, status == 304, d.has("must-understand") && !understands(status):
		return false
	case forOneRequest(status):
		return false
	case slices.Contains(members(v.header["Vary"]), "*"): // section 4.1: it would never match
		return false
	case len(v.header["Set-Cookie"]) > 0: // Exception: responses with cookies are not stored.
		return false
	case v.authorized && !d.has("must-revalidate") && !d.has("public") && !d.has("s-maxage"):
		return false
	}
	return d.has("public") || len(v.header["Expires"]) > 0 || d.has("max-age") || d.has("s-maxage") || heuristic(status)
}

// forOneRequest reports whether a status tells about the one request and its connection rather than about the resource: its
// credentials, conditions, range, size or rate. RFC 6585 forbids to store 428, 429, 431 and 511.
func forOneRequest(status int) bool {
	return slices.Contains([]int{226, 401, 407, 408, 412, 413, 416, 417, 421, 425, 426, 428, 429, 431, 511}, status)
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
	d, asked := listed(v.header["Cache-Control"]), listed(q.Header["Cache-Control"])
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

// matches is section 4.1.
func (v *version) matches(q *http.Request) error {
	for _, name := range members(v.header["Vary"]) {
		if name == "*" || variant(name, v.original) != variant(name, q.Header) {
			return fmt.Errorf("Vary: %s, and the first request had %q", name, v.original[http.CanonicalHeaderKey(name)])
		}
	}
	return nil
}

// variant returns a field in a form that is equal for equal fields.
func variant(name string, h http.Header) string {
	values, present := h[http.CanonicalHeaderKey(name)]
	if !present {
		return "absent"
	}
	text := strings.Join(values, ",")
	switch http.CanonicalHeaderKey(name) {
	case "Cookie", "Authorization":
		return "present: " + strings.Join(values, ", ")
	case "Accept-Language":
		text = strings.ToLower(strings.ReplaceAll(text, " ", ""))
	case "Accept-Encoding": // Exception: order and weights, except 0, do not count.
		var codings []string
		for _, coding := range strings.Split(strings.NewReplacer(" ", "", "\t", "").Replace(text), ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if strings.Trim(weight, "q=0.") == "" && weight != "" {
				name += " refused"
			}
			codings = append(codings, name)
		}
		slices.Sort(codings)
		text = strings.Join(codings, ",")
	}
	return "present: " + strings.ReplaceAll(text, ", ", ",") // Exception: spaces after commas do not count in any list.
}

// age is section 4.2.3.
func (v *version) age(now time.Time) time.Duration {
	value := 0
	if n, err := strconv.Atoi(v.header.Get("Age")); err == nil && n > 0 {
		value = n
	}
	apparent := max(0, v.received.Sub(v.date()))
	corrected := time.Duration(value)*time.Second + v.received.Sub(v.requested)
	return max(apparent, corrected) + now.Sub(v.received)
}

func (v *version) date() time.Time {
	if t, err := http.ParseTime(v.header.Get("Date")); err == nil {
		return t
	}
	// A recipient with a clock notes when it received a response without Date (RFC 9110, section 6.6.1), in seconds.
	return v.received.Truncate(time.Second)
}

// lifetime is section 4.2.1, and 4.2.2 with a tenth of the time since the last change.
func (v *version) lifetime() time.Duration {
	d := listed(v.header["Cache-Control"])
	changed, err := http.ParseTime(v.header.Get("Last-Modified"))
	switch {
	case d.has("s-maxage"):
		return d.seconds("s-maxage")
	case d.has("max-age"):
		return d.seconds("max-age")
	case len(v.header["Expires"]) > 0:
		expires, err := http.ParseTime(v.header.Get("Expires"))
		if err != nil {
			return 0
		}
		return max(0, expires.Sub(v.date()))
	case err == nil && (heuristic(v.status) || d.has("public")):
		return max(0, min(24*time.Hour, v.date().Sub(changed)/10))
	}
	return 0
}

// sentAs returns nil if an answer is a response, as the conditions and the range of a request permit.
func (v *version) sentAs(q *http.Request, a *http.Response) error {
	for _, name := range []string{"Cache-Control", "Vary", "Etag", "Last-Modified", "Expires", "Set-Cookie", "X-Extra", "Location"} {
		if !slices.Equal(a.Header[name], v.header[name]) {
			return fmt.Errorf("%s is %q, want %q", name, a.Header[name], v.header[name])
		}
	}
	sent, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	a.Body = io.NopCloser(strings.NewReader(string(sent)))
	want, size := v.body, len(v.body)
	tag, get := v.header.Get("Etag"), q.Method == http.MethodGet
	switch {
	case a.StatusCode == v.status:
	case v.status == 200 && a.StatusCode == http.StatusNotModified && v.notModified(q):
		want = ""
	case v.status == 200 && get && a.StatusCode == http.StatusPartialContent && v.ifRange(q, tag):
		var first, last int
		if n, _ := fmt.Sscanf(q.Header.Get("Range"), "bytes=%d-%d", &first, &last); n < 2 || last < first || last >= size {
			return fmt.Errorf("a part of %d bytes for Range: %s", size, q.Header.Get("Range"))
		}
		want = v.body[first : last+1]
		if got := a.Header.Get("Content-Range"); got != fmt.Sprintf("bytes %d-%d/%d", first, last, size) {
			return fmt.Errorf("Content-Range is %s", got)
		}
	case v.status == 200 && get && a.StatusCode == http.StatusRequestedRangeNotSatisfiable && v.ifRange(q, tag) && q.Header.Get("Range") == "bytes=99-":
		want = ""
	default:
		return fmt.Errorf("status %d for a response with %d", a.StatusCode, v.status)
	}
	if q.Method == http.MethodHead {
		want = ""
	}
	if string(sent) != want {
		return fmt.Errorf("the body is %q, want %q", sent, want)
	}
	return nil
}

// notModified reports whether the conditions of a request permit 304 (RFC 9110, section 13.2.2; RFC 9111, section 4.3.2).
func (v *version) notModified(q *http.Request) bool {
	if tags := q.Header.Get("If-None-Match"); tags != "" {
		return tags == "*" || v.header.Get("Etag") != "" && slices.ContainsFunc(strings.Split(tags, ", "), func(t string) bool { return weak(t) == weak(v.header.Get("Etag")) })
	}
	since, err := http.ParseTime(q.Header.Get("If-Modified-Since"))
	changed, missing := http.ParseTime(v.header.Get("Last-Modified"))
	if missing != nil {
		changed = v.date()
	}
	return err == nil && !changed.After(since)
}

// ifRange reports whether the condition If-Range holds (RFC 9110, section 13.1.5).
func (v *version) ifRange(q *http.Request, tag string) bool {
	switch condition := q.Header.Get("If-Range"); {
	case condition == "":
		return true
	case strings.HasPrefix(condition, `"`):
		return condition == tag
	default:
		t, err := http.ParseTime(condition)
		changed, missing := http.ParseTime(v.header.Get("Last-Modified"))
		return err == nil && missing == nil && t.Equal(changed) && v.date().Sub(t) >= time.Second
	}
}

// weak returns a tag for weak comparison.
func weak(tag string) string { return strings.TrimPrefix(tag, "W/") }

// directives are the cache directives of a message, by names in lower case. Of several values the first counts (section 4.2.1).
type directives map[string]string

// listed parses Cache-Control.
func listed(values []string) directives {
	d := directives{}
	for _, member := range members(values) {
		name, value, _ := strings.Cut(member, "=")
		if _, twice := d[strings.ToLower(name)]; !twice {
			d[strings.ToLower(name)] = strings.Trim(value, `"`)
		}
	}
	return d
}

// members returns the members of a list.
func members(values []string) (list []string) {
	quoted := false
	for _, member := range strings.FieldsFunc(strings.Join(values, ","), func(r rune) bool {
		quoted = quoted != (r == '"')
		return r == ',' && !quoted
	}) {
		if member = strings.TrimSpace(member); member != "" {
			list = append(list, member)
		}
	}
	return list
}

func (d directives) has(name string) bool {
	_, ok := d[name]
	return ok
}

// seconds returns the argument of a directive, 0 if it is invalid: then the response is stale.
func (d directives) seconds(name string) time.Duration {
	n, err := strconv.ParseUint(d[name], 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
