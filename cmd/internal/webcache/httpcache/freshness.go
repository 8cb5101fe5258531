package httpcache

import (
	"net/http"
	"strings"
	"time"
)

// policy is what the fields of a response say about its reuse. It does not change.
type policy struct {
	lifetime       time.Duration // for which the response is fresh, from its generation; at most forever
	initialAge     time.Duration // when it was received
	received       time.Time
	noCache        bool          // it must be validated before each use
	mustRevalidate bool          // it must not be used stale
	staleWhile     time.Duration // for which it may be used stale while it is validated
	staleOnError   time.Duration // for which it may be used stale if the origin answers with an error; or absent
	etag           string
	lastModified   time.Time // zero if absent
	date           time.Time
}

// heuristicFraction of the time since the last change is the lifetime of a response without one (RFC 9111, section 4.2.2).
const heuristicFraction = 10

// maxHeuristic is the longest lifetime that is not stated by the response.
const maxHeuristic = 24 * time.Hour

// newPolicy returns the policy of a response that was requested and received at these times.
func newPolicy(status int, h http.Header, d directives, requested, received time.Time) policy {
	p := policy{
		received: received, date: received, noCache: d.noCache,
		mustRevalidate: d.mustRevalidate || d.proxyRevalidate || d.noCache || d.sMaxAge >= 0, // section 5.2.2.10: s-maxage implies it
		staleWhile:     max(d.staleWhileRevalidate, 0), staleOnError: d.staleIfError,
		etag: h.Get("Etag"),
	}
	if date, ok := singleDate(h["Date"]); ok {
		p.date = date
	}
	p.lastModified, _ = singleDate(h["Last-Modified"])
	p.initialAge = initialAge(p.date, parseAge(h["Age"]), requested, received)
	p.lifetime = lifetime(status, h, d, p.date, p.lastModified)
	return p
}

// parseAge parses the values of Age. The first member of the list counts; an invalid one is ignored (RFC 9111, section 5.1).
func parseAge(values []string) time.Duration {
	if len(values) == 0 {
		return 0
	}
	first, _, _ := strings.Cut(values[0], ",")
	n, _ := digits(strings.TrimSpace(first))
	return seconds(n)
}

// initialAge is the corrected_initial_age of RFC 9111, section 4.2.3.
func initialAge(date time.Time, age time.Duration, requested, received time.Time) time.Duration {
	apparent := min(max(0, received.Sub(date)), forever)
	return max(apparent, age+received.Sub(requested))
}

// lifetime is the freshness_lifetime of RFC 9111, section 4.2.1, for a shared cache.
func lifetime(status int, h http.Header, d directives, date, lastModified time.Time) time.Duration {
	switch expires := h["Expires"]; {
	case d.sMaxAge >= 0:
		return d.sMaxAge
	case d.maxAge >= 0:
		return d.maxAge
	case len(expires) > 0 && !d.targeted:
		t, ok := singleDate(expires)
		if !ok {
			return 0
		}
		return min(max(0, t.Sub(date)), forever)
	case !lastModified.IsZero() && (heuristicStatus(status) || d.public):
		return min(max(0, date.Sub(lastModified)/heuristicFraction), maxHeuristic)
	}
	return 0
}

// heuristicStatus reports whether a status is heuristically cacheable (RFC 9110, section 15.1) and understood here.
func heuristicStatus(status int) bool {
	switch status {
	case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501:
		return true
	}
	return false
}

// age returns the current age (RFC 9111, section 4.2.3).
func (p *policy) age(now time.Time) time.Duration { return p.initialAge + max(0, now.Sub(p.received)) }

// until returns when the response becomes stale.
func (p *policy) until() time.Time { return p.received.Add(p.lifetime - p.initialAge) }

// use is how a stored response may be used.
type use int

const (
	useValidated       use = iota // after the origin has confirmed it
	useFresh                      // at once
	useStale                      // at once, because the request allows it
	useWhileValidating            // at once, while it is validated
)

// usable returns how a request may use the response now (RFC 9111, section 4.2.4 and 5.2.1).
func (p *policy) usable(d *directives, now time.Time) use {
	age := p.age(now)
	left := p.lifetime - age
	switch {
	case p.noCache || d.noCache:
		return useValidated
	case d.maxAge >= 0 && age > d.maxAge, d.minFresh >= 0 && left < d.minFresh:
		return useValidated
	case left > 0:
		return useFresh
	case p.mustRevalidate:
		return useValidated
	case d.maxStale >= 0 && -left <= d.maxStale:
		return useStale
	case p.staleWhile > 0 && -left < p.staleWhile && !d.noStore: // otherwise nothing of the validation could be stored
		return useWhileValidating
	}
	return useValidated
}

// usableOnError reports whether the response may be used although the origin answers with an error. If the origin
// is unreachable, it may be used for disconnected after it became stale (RFC 9111, section 4.2.4).
func (p *policy) usableOnError(d *directives, now time.Time, unreachable bool, disconnected time.Duration) bool {
	stale := p.age(now) - p.lifetime
	switch {
	case p.mustRevalidate || d.noCache || p.noCache:
		return false
	case p.staleOnError >= 0 && stale <= p.staleOnError, d.staleIfError >= 0 && stale <= d.staleIfError:
		return true
	}
	return unreachable && stale <= disconnected
}

// storable reports whether a shared cache may store the response to a GET (RFC 9111, section 3), and whether that
// has a use: the response is fresh, or can be validated, or may be used stale. It decides on a response that was received,
// and again on a stored response that a 304 has changed. It is authorized if a request with Authorization
// was answered with it or with a part of its fields. Responses that set cookies are
// never stored, because most of them are meant for one user even if they say otherwise.
func storable(authorized bool, asked *directives, status int, h http.Header, d *directives, p *policy) bool {
	switch {
	case status < 200 || ofRequest(status):
		return false
	case asked.noStore || d.private || len(h["Set-Cookie"]) > 0 || !validVary(h["Vary"]):
		return false
	case d.noStore && !(d.mustUnderstand && understood(status)):
		return false
	case d.mustUnderstand && !understood(status):
		return false
	case authorized && !(d.public || d.mustRevalidate || d.sMaxAge >= 0): // section 3.5
		return false
	}
	explicit := d.public || d.maxAge >= 0 || d.sMaxAge >= 0 || !d.targeted && len(h["Expires"]) > 0
	if !explicit && !heuristicStatus(status) {
		return false
	}
	return p.lifetime > p.initialAge || p.etag != "" || !p.lastModified.IsZero() || p.staleWhile > 0 || p.staleOnError > 0
}

// ofRequest reports whether a response with a status depends on fields of its request that are not part of the key, even if
// Vary does not name them, so that it is not for other requests: on the range, the conditions, the credentials, the
// codings or the size of the request, on its connection or on the number of requests. RFC 6585 forbids to store four of them.
func ofRequest(status int) bool {
	switch status {
	case http.StatusPartialContent, http.StatusIMUsed, http.StatusNotModified,
		http.StatusUnauthorized, http.StatusNotAcceptable, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable, http.StatusExpectationFailed,
		http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUpgradeRequired, http.StatusPreconditionRequired,
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusNetworkAuthenticationRequired:
		return true
	}
	return false
}

// whole reports whether a response is the one that the request would get without Range: only a response with status 200 that does
// not have the form of a partial one is known to be.
func whole(sent http.Header, status int, h http.Header) bool {
	return len(sent["Range"]) == 0 || status == http.StatusOK && len(h["Content-Range"]) == 0 &&
		!strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "multipart/byteranges")
}

// understood reports whether the cache knows the requirements of a status for caching, which must-understand demands.
func understood(status int) bool {
	return heuristicStatus(status) || status >= 200 && status <= 204 || status >= 300 && status <= 308 && status != http.StatusNotModified ||
		status >= 400 && status <= 417 || status >= 500 && status <= 505
}
