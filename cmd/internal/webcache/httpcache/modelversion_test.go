package httpcache_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// matches is section 4.1.
func (v *version) matches(q *http.Request) error {
	for _, name := range members(v.header["Vary"]) {
		if name == "*" || variant(name, v.original) != variant(name, endToEnd(q.Header)) {
			return fmt.Errorf("Vary: %s, and the first request had %q", name, v.original[http.CanonicalHeaderKey(name)])
		}
	}
	return nil
}

// endToEnd returns the fields that reach the origin.
func endToEnd(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range append(members(h["Connection"]), "X-Forwarded-Host") {
		h.Del(name)
	}
	return h
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

// directives returns what counts as Cache-Control: CDN-Cache-Control if it is valid (RFC 9213).
func (v *version) directives() directives {
	if targeted := v.header["Cdn-Cache-Control"]; targeted != nil && targeted[0] != "invalid=" {
		return listed(targeted)
	}
	return listed(v.header["Cache-Control"])
}

// expires returns Expires, unless CDN-Cache-Control replaces it.
func (v *version) expires() []string {
	if targeted := v.header["Cdn-Cache-Control"]; targeted != nil && targeted[0] != "invalid=" {
		return nil
	}
	return v.header["Expires"]
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
	d := v.directives()
	changed, err := http.ParseTime(v.header.Get("Last-Modified"))
	switch {
	case d.has("s-maxage"):
		return d.seconds("s-maxage")
	case d.has("max-age"):
		return d.seconds("max-age")
	case v.expires() != nil:
		expires, err := http.ParseTime(v.expires()[0])
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
