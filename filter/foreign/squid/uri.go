package squid

import (
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// defaultPorts are the ports that Squid omits.
var defaultPorts = map[string]int{"http": 80, "https": 443, "ftp": 21}

// CanonicalURI returns the URI under which Squid stores the object with the given absolute URI. Scheme and host
// are in lower case. The name and password of a user, the final period of the host, the default port and
// whitespace are omitted. An empty path is "/". Path, query and fragment stay as they are: Squid stores a
// fragment that a client sent. A Squid with a store-ID helper stores other URIs. The error wraps umbel.ErrGoal.
func CanonicalURI(uri string) (string, error) {
	refused := func(reason string) (string, error) {
		return "", sentinel.Errorf(umbel.ErrGoal, "squid: %.80q is no absolute URI, %s; want for example http://host/path", uri, reason)
	}
	s, ok := withoutSpace(uri)
	if !ok {
		return refused("it contains a control character")
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if scheme = lower(scheme); !ok || !isScheme(scheme) {
		return refused("it does not begin with a scheme")
	}
	authority, path := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	host, port, ok := splitHost(authority[strings.LastIndexByte(authority, '@')+1:])
	if !ok {
		return refused("its host is invalid")
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || !isDigit(port[0]) {
			return refused("its port is not a number from 1 to 65535")
		}
		if int(n) != defaultPorts[scheme] {
			host += ":" + strconv.FormatUint(n, 10)
		}
	}
	return scheme + "://" + host + path, nil
}

// withoutSpace removes whitespace from s. It returns false if s contains another control character.
func withoutSpace(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || '\t' <= c && c <= '\r':
		case c < ' ' || c == 0x7f:
			return "", false
		default:
			b = append(b, c)
		}
	}
	return string(b), true
}

// isScheme reports whether s, in lower case, is a scheme: RFC 3986, section 3.1.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && (i == 0 || !isDigit(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// splitHost returns the host in lower case without a final period, and the port, which may be empty.
func splitHost(s string) (host, port string, ok bool) {
	host = s
	if strings.HasPrefix(s, "[") { // an address of IPv6 contains colons
		end := strings.IndexByte(s, ']')
		if end < 0 || end+1 < len(s) && s[end+1] != ':' {
			return "", "", false
		}
		host, port = s[:end+1], strings.TrimPrefix(s[end+1:], ":")
	} else if colon := strings.IndexByte(s, ':'); colon >= 0 {
		host, port = s[:colon], s[colon+1:]
	}
	host = lower(host)
	ok = strings.Trim(host, ".") != "" && !strings.Contains(host, "..") && !strings.ContainsAny(host, `"<>\^|{}`)
	return strings.TrimSuffix(host, "."), port, ok
}
