package httpcache

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/umbel-filters/umbel/internal/httptarget"
)

// target is what a request is about.
type target struct {
	url *url.URL // that is sent to the origin; it is not changed
	key string
}

// errNotProxied is the error of a request for the host itself, on a forward proxy.
var errNotProxied = errors.New("this is a forward proxy: configure it as one, or start the cache with an origin")

// target returns the target of a request. With an origin, path and query are those of the request, byte for byte, and everything
// else is the origin's; otherwise the request has the whole URL.
func (c *Cache) target(r *http.Request) (target, error) {
	base := c.origin
	if base == nil {
		switch u := r.URL; {
		case u.Host == "":
			return target{}, errNotProxied
		case u.Scheme != "http":
			return target{}, errors.New("a forward proxy fetches http URLs; https goes through CONNECT")
		case u.User != nil:
			return target{}, errors.New("the URL has a user name")
		default:
			base = &url.URL{Scheme: u.Scheme, Host: canonicalHost(u.Scheme, u.Host)}
		}
	}
	path, err := httptarget.Received(r)
	if err != nil {
		return target{}, err
	}
	to, err := httptarget.On(base, path)
	if err != nil {
		return target{}, err
	}
	if c.origin != nil {
		return target{to, c.prefix + path}, nil
	}
	return target{to, keyOf(to)}, nil
}

// keyOf returns the cache key of a URL: the scheme, the host in lower case without the default port, and path and
// query as they are sent. It is made from the URL that the origin gets, so that no other part of a request can
// change what is stored under a key.
func keyOf(u *url.URL) string {
	return u.Scheme + "://" + canonicalHost(u.Scheme, u.Host) + httptarget.Of(u)
}

// canonicalHost returns a host in lower case without the default port of the scheme.
func canonicalHost(scheme, host string) string {
	host = strings.ToLower(host)
	name, port, err := net.SplitHostPort(host)
	if err != nil || !(port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443") {
		return host
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return name
}

// resolve returns the key of a reference in a response, such as Location, if it is of the same origin as the target.
func (t target) resolve(reference string) (key string, ok bool) {
	base := *t.url
	base.Opaque = ""
	u, err := base.Parse(reference)
	if err != nil || u.Scheme != t.url.Scheme || canonicalHost(u.Scheme, u.Host) != canonicalHost(t.url.Scheme, t.url.Host) {
		return "", false
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return keyOf(u), true
}
