package httpcache

import (
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// directives are the cache directives of a request or a response. A duration that is absent is negative.
type directives struct {
	noStore, noCache, private, public, mustUnderstand bool
	mustRevalidate, proxyRevalidate                   bool
	onlyIfCached                                      bool

	maxAge, sMaxAge, minFresh, maxStale time.Duration
	staleWhileRevalidate, staleIfError  time.Duration
	targeted                            bool // they come from CDN-Cache-Control, so that Expires has no meaning
}

// absent is the value of a duration that no directive states.
const absent = time.Duration(-1)

// forever is a duration above all lifetimes, which can be added to a time of this millennium.
const forever = 1 << 31 * time.Second

// noDirectives are the directives of a message without any.
var noDirectives = directives{
	maxAge: absent, sMaxAge: absent, minFresh: absent, maxStale: absent, staleWhileRevalidate: absent, staleIfError: absent,
}

// parseDirectives parses the values of Cache-Control. Unknown directives are ignored. An invalid number is 0, so
// that it makes a response stale (RFC 9111, section 4.2.1). Of several values of a directive the lesser one counts.
// An argument that limits no-cache or private to some fields is ignored, which is allowed and safe (section 5.2.2.4).
func parseDirectives(values []string) directives {
	d := noDirectives
	for _, value := range values {
		for rest := value; rest != ""; {
			var name, argument string
			name, argument, rest = nextDirective(rest)
			d.set(strings.ToLower(name), argument)
		}
	}
	return d
}

// nextDirective splits the first directive off a list. A comma in a quoted string does not end it.
func nextDirective(s string) (name, argument, rest string) {
	member, rest := nextMember(s)
	name, argument, _ = strings.Cut(member, "=")
	return name, argument, rest
}

// set applies a directive. The name has lower case.
func (d *directives) set(name, argument string) {
	switch name {
	case "max-stale":
		if argument == "" {
			d.maxStale = forever // of any age
			return
		}
	case "no-store", "no-cache", "private", "public", "must-understand", "must-revalidate", "proxy-revalidate", "only-if-cached":
		d.setFlag(name)
		return
	}
	if field := d.duration(name); field != nil {
		lesser(field, parseSeconds(argument))
	}
}

// setFlag applies a directive without an argument.
func (d *directives) setFlag(name string) {
	switch name {
	case "no-store":
		d.noStore = true
	case "no-cache":
		d.noCache = true
	case "private":
		d.private = true
	case "public":
		d.public = true
	case "must-understand":
		d.mustUnderstand = true
	case "must-revalidate":
		d.mustRevalidate = true
	case "proxy-revalidate":
		d.proxyRevalidate = true
	case "only-if-cached":
		d.onlyIfCached = true
	}
}

// duration returns the field of a directive with seconds, or nil for other directives.
func (d *directives) duration(name string) *time.Duration {
	switch name {
	case "max-age":
		return &d.maxAge
	case "s-maxage":
		return &d.sMaxAge
	case "min-fresh":
		return &d.minFresh
	case "max-stale":
		return &d.maxStale
	case "stale-while-revalidate":
		return &d.staleWhileRevalidate
	case "stale-if-error":
		return &d.staleIfError
	}
	return nil
}

// lesser sets a duration unless it has a lesser value.
func lesser(field *time.Duration, value time.Duration) {
	if *field < 0 || value < *field {
		*field = value
	}
}

// parseSeconds parses the argument of a directive: decimal digits, also in quotes. Numbers above 2^31 are forever,
// and everything else is 0.
func parseSeconds(s string) time.Duration {
	if n := len(s); n >= 2 && s[0] == '"' && s[n-1] == '"' {
		s = s[1 : n-1]
	}
	n, ok := digits(s)
	if !ok {
		return 0
	}
	return seconds(n)
}

// digits parses a number of decimal digits. Numbers above 2^31 may be returned as 2^31.
func digits(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int64(s[i]-'0'), math.MaxInt32+1)
	}
	return n, s != ""
}

// seconds returns n seconds, at most forever.
func seconds(n int64) time.Duration { return time.Duration(min(n, math.MaxInt32+1)) * time.Second }

// responseDirectives returns the directives of a response. If targeted, a valid CDN-Cache-Control replaces
// Cache-Control and Expires (RFC 9213, section 2.1).
func responseDirectives(h http.Header, targeted bool) directives {
	if values := h["Cdn-Cache-Control"]; targeted && len(values) > 0 {
		if d, ok := parseTargeted(values); ok {
			return d
		}
	}
	return parseDirectives(h["Cache-Control"])
}

// parseTargeted parses CDN-Cache-Control, a dictionary of structured fields. If it is not one, or if a value has the
// wrong type, the whole field is ignored.
func parseTargeted(values []string) (directives, bool) {
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	if err != nil || len(dictionary.Names()) == 0 {
		return noDirectives, false
	}
	d := noDirectives
	d.targeted = true
	for _, name := range dictionary.Names() {
		member, _ := dictionary.Get(name)
		item, isItem := member.(httpsfv.Item)
		if field := d.duration(name); field != nil {
			n, ok := item.Value.(int64)
			if !isItem || !ok || n < 0 {
				return noDirectives, false
			}
			*field = seconds(n)
			continue
		}
		on, ok := item.Value.(bool)
		switch {
		case name == "no-cache" || name == "private": // they may have a list of fields
			d.setFlag(name)
		case ok && on:
			d.setFlag(name)
		}
	}
	return d, true
}

// requestDirectives returns the directives of a request. Pragma: no-cache counts if Cache-Control is absent
// (RFC 9111, section 5.4).
func requestDirectives(h http.Header) directives {
	if values := h["Cache-Control"]; len(values) > 0 {
		return parseDirectives(values)
	}
	d := noDirectives
	for _, value := range h["Pragma"] {
		d.noCache = d.noCache || strings.Contains(strings.ToLower(value), "no-cache")
	}
	return d
}
