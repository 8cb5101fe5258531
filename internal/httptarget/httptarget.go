// Package httptarget keeps the targets of HTTP requests as they were sent, byte for byte. Package net/url parses a path into its decoded
// form and writes it again, which changes some: of /{a}%2Fb it makes /%7Ba%7D/b, another resource. A proxy sends what it received
// (RFC 9110, section 4.2.3; RFC 9112, section 3.2).
package httptarget

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ErrTarget is the error of a target that no proxy can send as it is. Its request is answered with status 400.
var ErrTarget = errors.New("the target of the request is malformed")

// Received returns the path and the query of the target of r, as its first line has them: "*", or with a slash at the beginning. A
// target in absolute form becomes one in origin form (RFC 9112, section 3.2.4). The error wraps ErrTarget. r is the request of a server.
func Received(r *http.Request) (string, error) {
	t := r.RequestURI
	switch {
	case t == "*" && r.Method == http.MethodOptions, strings.HasPrefix(t, "/"):
		return t, nil
	case t == "" && r.Host != "": // r was made without a first line
		return Of(r.URL), nil
	}
	_, t, ok := cut(t)
	switch {
	case !ok:
		return "", fmt.Errorf("%w: %.100q, want a path or a URL", ErrTarget, r.RequestURI)
	case t == "" && r.Method == http.MethodOptions:
		return "*", nil
	case !strings.HasPrefix(t, "/"):
		return "/" + t, nil
	}
	return t, nil
}

// On returns the URL of a target, as Received returns it, on the server of base: if a request for it is sent, its first line has the
// target, byte for byte. The error wraps ErrTarget.
func On(base *url.URL, target string) (*url.URL, error) {
	path, query, asked := strings.Cut(target, "?")
	u := &url.URL{Scheme: base.Scheme, Host: base.Host, RawPath: path, RawQuery: query, ForceQuery: asked && query == ""}
	var err error
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTarget, err)
	}
	if u.EscapedPath() == path {
		return u, nil
	}
	if strings.HasPrefix(path, "//") { // net/url would take it for an authority
		return nil, fmt.Errorf("%w: %.100q, want %.100q", ErrTarget, path, u.EscapedPath())
	}
	u.Opaque = path
	return u, nil
}

// Parse returns the http or https URL in s. Requests with it have the target of s byte for byte. It has no fragment. The error wraps ErrTarget.
func Parse(s string) (*url.URL, error) {
	server, target, ok := cut(s)
	if !ok {
		return nil, fmt.Errorf("%w: %.100q, want a URL", ErrTarget, s)
	}
	base, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTarget, err)
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return On(base, target)
}

// Of returns the path and the query of u as requests for u have them.
func Of(u *url.URL) string {
	if u.Opaque == "" || strings.HasPrefix(u.Opaque, "//") {
		return u.RequestURI()
	}
	return u.Opaque + query(u)
}

func query(u *url.URL) string {
	if u.RawQuery == "" && !u.ForceQuery {
		return ""
	}
	return "?" + u.RawQuery
}

// cut returns the scheme and the authority of an http or https URL, and its path and query.
func cut(s string) (server, target string, ok bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", "", false
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		i = len(rest)
	}
	return s[:len(scheme)+len("://")+i], rest[i:], i > 0
}
