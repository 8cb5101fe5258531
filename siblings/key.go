package siblings

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/internal/httptarget"
)

// Key identifies what a cache holds: a URL, or one variant of it. Caches that should find each other's
// responses need equal keys, so that a key has the parts of a URL on which all caches agree: the scheme and
// the host in lower case, no default port and no fragment, path and query as they are (RFC 9110, section
// 4.2.3, without the normalizations that change paths).
type Key string

// KeyOf returns the key of a URL, whose host is that of u unless host is not empty.
func KeyOf(u *url.URL, host string) Key {
	if host == "" {
		host = u.Host
	}
	scheme := strings.ToLower(u.Scheme)
	host = strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return Key(scheme + "://" + host + httptarget.Of(u))
}

// Variant returns the key of the variant that a request with header h selects, if the response has the given
// names in its Vary header. Without names it is k itself. The order and the case of the names do not matter.
func (k Key) Variant(vary []string, h http.Header) Key {
	if len(vary) == 0 {
		return k
	}
	names := make([]string, len(vary))
	for i, name := range vary {
		names[i] = http.CanonicalHeaderKey(name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(string(k))
	for _, name := range slices.Compact(names) {
		b.WriteByte(0) // no URL and no field contains it
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(selecting(name, h))
	}
	return Key(b.String())
}

// selecting returns the value of a header with which a request selects a variant.
func selecting(name string, h http.Header) string {
	if name == acceptEncoding {
		return coding(h)
	}
	values := h[name]
	if len(values) == 1 {
		return strings.TrimSpace(values[0])
	}
	return strings.Join(values, ",")
}
