package httpcache

import (
	"net/http"
	"strings"
)

// conditionalFields are the fields of requests with conditions.
var conditionalFields = []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"}

// isConditional reports whether a request has a condition.
func isConditional(h http.Header) bool {
	for _, name := range conditionalFields {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// notModified reports whether the answer to a GET or HEAD is 304, because the client has the stored response (RFC 9110,
// section 13.2.2; RFC 9111, section 4.3.2). Without Last-Modified the date of the response counts.
func notModified(request http.Header, p *policy) bool {
	if tags := request["If-None-Match"]; len(tags) > 0 {
		return matchesTag(tags, p.etag)
	}
	since, ok := singleDate(request["If-Modified-Since"])
	if !ok {
		return false
	}
	changed := p.lastModified
	if changed.IsZero() {
		changed = p.date
	}
	return !changed.After(since)
}

// matchesTag reports whether a list of entity tags contains one, by weak comparison (RFC 9110, section 8.8.3.2).
func matchesTag(values []string, tag string) bool {
	for _, value := range values {
		for rest := value; rest != ""; {
			var member string
			member, rest = nextTag(rest)
			if member == "*" || tag != "" && opaque(member) == opaque(tag) {
				return true
			}
		}
	}
	return false
}

// nextTag splits the first entity tag off a list. A comma in quotes belongs to the tag.
func nextTag(s string) (tag, rest string) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return strings.Trim(s[:i], " \t"), s[i+1:]
		}
	}
	return strings.Trim(s, " \t"), ""
}

// opaque returns a tag without the mark of a weak one.
func opaque(tag string) string { return strings.TrimPrefix(tag, "W/") }

// isStrong reports whether a tag identifies the exact bytes.
func isStrong(tag string) bool { return tag != "" && !strings.HasPrefix(tag, "W/") }

// rangeApplies reports whether the condition If-Range holds, so that Range counts (RFC 9110, section 13.1.5).
func rangeApplies(request http.Header, p *policy) bool {
	values := request["If-Range"]
	if len(values) == 0 {
		return true
	}
	if t, ok := singleDate(values); ok {
		// Two changes within a second have the same date, so it is exact only if it is old.
		return !p.lastModified.IsZero() && t.Equal(p.lastModified) && p.date.Sub(t) >= 1e9
	}
	return len(values) == 1 && isStrong(p.etag) && values[0] == p.etag
}

// confirms reports whether a 304 is about a stored response, which its validators identify (RFC 9111, section 4.3.4).
// A 304 without validators is about the response whose validators the request had.
func (p *policy) confirms(h, request http.Header) bool {
	tag := h.Get("Etag")
	if isStrong(tag) {
		return tag == p.etag
	}
	if tag != "" {
		return opaque(tag) == opaque(p.etag)
	}
	if changed, ok := singleDate(h["Last-Modified"]); ok {
		return changed.Equal(p.lastModified)
	}
	own := http.Header{}
	setConditions(own, p)
	return request.Get("If-None-Match") == own.Get("If-None-Match") && request.Get("If-Modified-Since") == own.Get("If-Modified-Since")
}

// setConditions replaces the conditions of a request by those that validate a stored response. Without validators the
// origin answers with the whole response.
func setConditions(h http.Header, p *policy) {
	for _, name := range conditionalFields {
		delete(h, name)
	}
	if p.etag != "" {
		h.Set("If-None-Match", p.etag)
	}
	if !p.lastModified.IsZero() {
		h.Set("If-Modified-Since", p.lastModified.Format(http.TimeFormat))
	}
}

// span is a part of a body, from byte first, with length bytes.
type span struct{ first, length int64 }

// parseRange parses the values of Range for a body of size bytes (RFC 9110, section 14.1.2). Without ok the whole body
// is the answer: for several ranges, other units, and ranges that are not valid. A range without bytes of the body has
// length 0.
func parseRange(values []string, size int64) (s span, ok bool) {
	if len(values) != 1 {
		return span{}, false
	}
	unit, spec, _ := strings.Cut(values[0], "=")
	from, to, ok := strings.Cut(strings.Trim(spec, " \t"), "-")
	if !ok || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return span{}, false
	}
	first, hasFirst := offset(from)
	last, hasLast := offset(to)
	switch {
	case from == "" && hasLast: // the last bytes
		length := min(last, size)
		return span{size - length, length}, true
	case !hasFirst || to != "" && !hasLast || hasLast && last < first:
		return span{}, false
	case first >= size:
		return span{}, true
	case !hasLast || last >= size:
		last = size - 1
	}
	return span{first, last - first + 1}, true
}

// offset parses an offset of a range. Offsets above 2^62 may be returned as 2^62, which is above every size.
func offset(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n < 1<<58 {
			n = n*10 + int64(s[i]-'0')
		} else {
			n = 1 << 62
		}
	}
	return n, s != ""
}
