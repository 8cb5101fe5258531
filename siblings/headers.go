package siblings

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// apply states the remaining lifetime of a response for the cache in front. Of a response of the origin that has no
// age yet, nothing changes, except for nginx.
func (f Freshness) apply(h http.Header, s stamp, sibling bool) {
	age := int64(s.age / time.Second)
	if sibling && s.age%time.Second > 0 {
		age++ // rounded up at each of many hops, the age is never too low
	}
	if sibling {
		h.Set("Age", strconv.FormatInt(age, 10))
	}
	switch f {
	case FreshnessAccel:
		// nginx serves a response until the end of the second in which it expires, so that it gets one less.
		left := max(int64((s.life-s.age)/time.Second)-1, 0)
		h.Set("X-Accel-Expires", strconv.FormatInt(left, 10))
	case FreshnessMaxAge:
		if h["Age"] == nil {
			return
		}
		var directives []string
		for _, value := range h["Cache-Control"] {
			for value != "" {
				var item string
				item, value = cutDirective(value)
				name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(item)), "=")
				if name = strings.TrimSpace(name); name != "max-age" && name != "s-maxage" && name != "" {
					directives = append(directives, strings.TrimSpace(item))
				}
			}
		}
		directives = append(directives, "max-age="+seconds10(s.life-s.age))
		h.Set("Cache-Control", strings.Join(directives, ", "))
		h.Del("Age")
		h.Del("Expires")
	}
}

// seconds10 returns whole seconds in decimal.
func seconds10(d time.Duration) string { return strconv.FormatInt(max(int64(d/time.Second), 0), 10) }

// status returns an item of the header Cache-Status (RFC 9211) of this node.
func (m *Mesh) status(parameters string) string { return quote(m.name) + parameters }

// quote returns a string of structured fields (RFC 9651, section 3.3.3), without characters that it can't contain.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			b.WriteByte('-')
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// notHeld returns the answer to a request that only a cache may answer, and that none can.
func notHeld(r *http.Request, name, value string) *http.Response {
	const text = "not held by this cache\n"
	res := &http.Response{
		Status: "504 Gateway Timeout", StatusCode: http.StatusGatewayTimeout, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Cache-Control": {"no-store"}, "Content-Type": {"text/plain; charset=utf-8"}, "Content-Length": {strconv.Itoa(len(text))},
			name: {value},
		},
		ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)), Request: r,
	}
	if r.Method == http.MethodHead {
		res.Body = http.NoBody
	}
	return res
}
