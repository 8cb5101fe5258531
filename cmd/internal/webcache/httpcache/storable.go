package httpcache

import (
	"net/http"
	"strings"
)

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
