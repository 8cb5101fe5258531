package httpcache

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// unkeyed are fields with which a client could change the answer of many origins, although they are not part of the
// cache key. The request whose answer may be stored is sent without them.
var unkeyed = []string{
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix",
	"X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Path", "X-Forwarded-Ssl", "X-Host", "X-Http-Host-Override",
	"X-Original-Host", "X-Original-Url", "X-Rewrite-Url", "X-Url-Scheme", "X-Real-Ip", "Front-End-Https",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
}

func removeUnkeyed(h http.Header) {
	for _, name := range unkeyed {
		delete(h, name)
	}
}

// stateScheme states the scheme with which clients reach the cache, if it is known. It is the same for all, so that it is no part
// of the cache key.
func (c *Cache) stateScheme(h http.Header) {
	if c.scheme != "" {
		h["X-Forwarded-Proto"] = []string{c.scheme}
	}
}

// appendField adds a member to a list field. The values of h may be shared with other headers and are not changed.
func appendField(h http.Header, name, member string) {
	values := h[name]
	h[name] = append(values[:len(values):len(values)], member)
}

// via returns the member that this cache adds to Via (RFC 9110, section 7.6.3).
func via(major, minor int, pseudonym string) string {
	if major == 1 && minor == 1 {
		return "1.1 " + pseudonym // almost always
	}
	return string(rune('0'+major)) + "." + string(rune('0'+minor)) + " " + pseudonym
}

// loops reports whether a request has been here before.
func loops(h http.Header, pseudonym string) bool {
	for _, value := range h["Via"] {
		if strings.Contains(value, pseudonym) && slices.ContainsFunc(members([]string{value}), func(m string) bool {
			return slices.Contains(strings.Fields(m), pseudonym)
		}) {
			return true
		}
	}
	return false
}

// keptOn304 are the fields of a stored response that a 304 does not change: they describe the stored body.
var keptOn304 = []string{"Content-Length", "Content-Encoding", "Content-Range", "Age"}

// merged returns the fields of a stored response, updated by those of a 304 (RFC 9111, section 3.2).
func merged(stored, update http.Header) http.Header {
	h := stored.Clone()
	delete(h, "Age") // of the response that was validated
	for name, values := range update {
		if !slices.Contains(keptOn304, name) {
			h[name] = slices.Clone(values)
		}
	}
	if age := update["Age"]; len(age) > 0 {
		h["Age"] = slices.Clone(age)
	}
	return h
}

// dateLayouts are the three forms of a date in RFC 9110, section 5.6.7.
var dateLayouts = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// parseDate parses a date. Letters may have the wrong case (RFC 9111, section 4.2), but unlike http.ParseTime it
// refuses another zone than GMT, a wrong number of digits and doubled spaces: a cache takes those for invalid.
func parseDate(s string) (time.Time, bool) {
	if n := len(s) - len("GMT"); n > 0 && strings.EqualFold(s[n:], "GMT") {
		s = s[:n] + "GMT"
	}
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		if err != nil || !strings.EqualFold(withoutWeekday(t.Format(layout)), withoutWeekday(s)) {
			continue
		}
		// A year of two digits more than 50 years ahead is in the past century (RFC 9110, section 5.6.7).
		// time.Parse begins the century at 1969.
		if layout == dateLayouts[1] && t.Year() < time.Now().Year()-50 {
			if later := t.AddDate(100, 0, 0); !later.After(time.Now().AddDate(50, 0, 0)) {
				t = later
			}
		}
		return t.UTC(), true
	}
	return time.Time{}, false
}

// withoutWeekday returns a date after the name of the weekday, which may be the wrong one.
func withoutWeekday(s string) string {
	_, rest, _ := strings.Cut(s, " ")
	return rest
}

// singleDate parses a field that must have one value.
func singleDate(values []string) (time.Time, bool) {
	if len(values) != 1 {
		return time.Time{}, false
	}
	return parseDate(values[0])
}
