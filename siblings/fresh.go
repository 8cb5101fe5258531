package siblings

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// control are the directives of a Cache-Control header that matter here. Of repeated ones the lesser lifetime
// counts.
type control struct {
	noStore, noCache, private, onlyIfCached, minFresh bool

	maxAge, sMaxAge time.Duration // -1 if absent
}

// maxLifetime bounds lifetimes and ages: RFC 9111, section 1.2.2, requires no more than 2^31 seconds.
const maxLifetime = math.MaxInt32 * time.Second

// parseControl returns the directives in the Cache-Control headers of h.
func parseControl(h http.Header) control {
	c := control{maxAge: -1, sMaxAge: -1}
	for _, value := range h["Cache-Control"] {
		for value != "" {
			var item string
			item, value = cutDirective(value)
			name, argument, _ := strings.Cut(item, "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "no-store":
				c.noStore = true
			case "no-cache":
				c.noCache = true
			case "private":
				c.private = true
			case "only-if-cached":
				c.onlyIfCached = true
			case "min-fresh":
				c.minFresh = true
			case "max-age":
				c.maxAge = lesser(c.maxAge, seconds(argument))
			case "s-maxage":
				c.sMaxAge = lesser(c.sMaxAge, seconds(argument))
			}
		}
	}
	return c
}

// cutDirective returns the text before the first comma outside of quotes, and the text after it.
func cutDirective(s string) (item, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// seconds returns the time in the argument of a directive. What is no number is 0, so that the response is not
// fresh.
func seconds(s string) time.Duration {
	s = strings.Trim(strings.TrimSpace(s), `"`)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > math.MaxInt32 {
		return maxLifetime
	}
	return time.Duration(n) * time.Second
}

func lesser(a, b time.Duration) time.Duration {
	if a < 0 {
		return b
	}
	return min(a, b)
}

// lifetime returns for how long a response with header h is fresh after it was made, 0 if that is not stated:
// RFC 9111, section 4.2.1, for shared caches, without heuristics.
func lifetime(h http.Header, c control) time.Duration {
	switch {
	case c.sMaxAge >= 0:
		return c.sMaxAge
	case c.maxAge >= 0:
		return c.maxAge
	}
	expires, ok := parseTime(h.Get("Expires"))
	date, dated := parseTime(h.Get("Date"))
	if !ok || !dated {
		return 0
	}
	return min(max(expires.Sub(date), 0), maxLifetime)
}

// parseTime returns the time in a header. http.ParseTime accepts more than RFC 9110 does, such as an hour of one
// digit; a time that is not as it should be has passed.
func parseTime(s string) (time.Time, bool) {
	t, err := http.ParseTime(s)
	if err != nil || len(s) == len(http.TimeFormat) && t.UTC().Format(http.TimeFormat) != s {
		return time.Time{}, false
	}
	return t, true
}

// ageOf returns the age of a response when it arrived: RFC 9111, section 4.2.3.
func ageOf(h http.Header, requested, arrived time.Time) time.Duration {
	age := arrived.Sub(requested)
	if values := h["Age"]; len(values) > 0 {
		first, _, _ := strings.Cut(values[0], ",")
		age += seconds(first)
	}
	if date, ok := parseTime(h.Get("Date")); ok {
		age = max(age, arrived.Sub(date.Add(time.Second))) // the date has whole seconds
	}
	return min(max(age, 0), maxLifetime)
}

// shareable returns the lifetime of a response that siblings may have, 0 for others: it is a complete answer to
// a GET, for everybody and with a stated lifetime.
func shareable(r *http.Request, res *http.Response) time.Duration {
	h := res.Header
	if r.Method != http.MethodGet || res.StatusCode != http.StatusOK || r.Header["Authorization"] != nil ||
		h["Set-Cookie"] != nil || h["Content-Range"] != nil {
		return 0
	}
	c := parseControl(h)
	if c.noStore || c.noCache || c.private {
		return 0
	}
	return lifetime(h, c)
}
