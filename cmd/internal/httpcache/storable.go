package httpcache

import "net/http"

// storable reports whether a shared cache may store the response to a GET (RFC 9111, section 3), and whether that
// has a use: the response is fresh, or can be validated, or may be used stale. Responses that set cookies are
// never stored, because most of them are meant for one user even if they say otherwise.
func storable(request http.Header, asked *directives, status int, h http.Header, d *directives, p *policy) bool {
	switch {
	case status < 200 || status == http.StatusPartialContent || status == http.StatusNotModified:
		return false
	case asked.noStore || d.private || len(h["Set-Cookie"]) > 0 || variesByAll(h["Vary"]):
		return false
	case d.noStore && !(d.mustUnderstand && understood(status)):
		return false
	case d.mustUnderstand && !understood(status):
		return false
	case len(request["Authorization"]) > 0 && !(d.public || d.mustRevalidate || d.sMaxAge >= 0): // section 3.5
		return false
	}
	explicit := d.public || d.maxAge >= 0 || d.sMaxAge >= 0 || !d.targeted && len(h["Expires"]) > 0
	if !explicit && !heuristicStatus(status) {
		return false
	}
	return p.lifetime > p.initialAge || p.etag != "" || !p.lastModified.IsZero() || p.staleWhile > 0 || p.staleOnError > 0
}

// understood reports whether the cache knows the requirements of a status for caching, which must-understand demands.
func understood(status int) bool {
	return heuristicStatus(status) || status >= 200 && status <= 204 || status >= 300 && status <= 308 && status != http.StatusNotModified ||
		status >= 400 && status <= 417 || status >= 500 && status <= 505
}
