package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the names by which clients may reach a server, besides addresses and localhost. The
// check of the Host header stops a page that has pointed its own name at this server's address (DNS
// rebinding): for a browser such a page and the server are one site.
type Hosts struct {
	Any   bool // every name is allowed
	Names []string
}

// allow reports whether a Host header is allowed.
func (hs Hosts) allow(host string) bool {
	if hs.Any {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || slices.ContainsFunc(hs.Names, func(own string) bool { return strings.EqualFold(own, host) })
}

// guard refuses requests that pages of other sites cause browsers to send.
type guard struct {
	hosts  Hosts
	origin *http.CrossOriginProtection
}

func newGuard(hosts Hosts) guard { return guard{hosts, http.NewCrossOriginProtection()} }

// check returns an error if a page of another site caused the request, or if its host is not
// allowed. Methods that change nothing are refused too: a page must not make a browser start a
// backup or a profile either.
func (g guard) check(r *http.Request) error {
	changing := *r
	changing.Method = http.MethodPost // CrossOriginProtection ignores GET and HEAD
	if err := g.origin.Check(&changing); err != nil {
		return problemf(crossOrigin, "%w", err)
	}
	if !g.hosts.allow(r.Host) {
		return problemf(misdirected, "host %q is not allowed; use an address or localhost, or add it to http-hosts", r.Host)
	}
	return nil
}

// Protect returns h without the requests that New's handler refuses because of their origin or host.
func Protect(h http.Handler, hosts Hosts) http.Handler {
	g := newGuard(hosts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.check(r); err != nil {
			writeProblem(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}
