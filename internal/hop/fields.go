package hop

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// ErrMalformed is wrapped by the errors of an answer that is not one of HTTP, and cannot be mended.
var ErrMalformed = errors.New("the answer is malformed")

// oneHop are the fields that concern one connection (RFC 9110, section 7.6.1) or a proxy (sections 11.7.1 to 11.7.3).
var oneHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Transfer-Encoding", "Upgrade", "Trailer",
	"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
}

// endToEnd are fields that Connection must not list, since they are for all recipients (RFC 9110, section 7.6.1): without
// them a message would be stored, framed or shared in another way than its sender requires.
var endToEnd = []string{
	"Age", "Authorization", "Cache-Control", "Cdn-Cache-Control", "Content-Length", "Cookie", "Date", "Expires", "Host", "Set-Cookie", "Vary", "Via",
}

// Remove removes the fields of h that concern one connection, and those that Connection lists. Cache-Control and
// other fields for all recipients stay even if Connection lists them.
func Remove(h http.Header) {
	for _, value := range h["Connection"] {
		for name := range strings.SplitSeq(value, ",") {
			name = textproto.CanonicalMIMEHeaderKey(strings.Trim(name, " \t"))
			if !slices.Contains(endToEnd, name) {
				delete(h, name)
			}
		}
	}
	for _, name := range oneHop {
		delete(h, name)
	}
}

// Removes reports whether Remove removes the field of h with a canonical name, if it is present.
func Removes(h http.Header, name string) bool {
	if slices.Contains(oneHop, name) {
		return true
	}
	for _, value := range h["Connection"] {
		for listed := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(listed, " \t"), name) {
				return !slices.Contains(endToEnd, name)
			}
		}
	}
	return false
}

// Mend removes spaces between the name of a field and its colon, as RFC 9112, section 5.1, requires of a proxy. Package
// net/http accepts such a field, does not interpret it, and would drop it when it is sent. The error wraps ErrMalformed if the
// name is no token, or if the field frames the message: net/http has read it with another length. On error h may be mended in part.
func Mend(h http.Header) error {
	for name := range h {
		if isToken(name) {
			continue
		}
		mended := textproto.CanonicalMIMEHeaderKey(strings.TrimRight(name, " "))
		switch {
		case !isToken(mended):
			return fmt.Errorf("%w: the field name %q", ErrMalformed, name)
		case mended == "Content-Length" || mended == "Transfer-Encoding":
			return fmt.Errorf("%w: a space after %s", ErrMalformed, mended)
		}
		h[mended] = append(slices.Clip(h[mended]), h[name]...)
		delete(h, name)
	}
	return nil
}

// isToken reports whether a name may be that of a field (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// Keep makes a server of net/http send the fields of an answer with this status as they are: without a Content-Type that the origin
// did not send, and with those of the selected response in a 304 (RFC 9110, section 15.4.5). It must be
// called directly before WriteHeader.
func Keep(h http.Header, status int) {
	if status == http.StatusNotModified {
		// The server would delete them by these names; the case of a name has no meaning.
		for _, name := range []string{"Content-Type", "Content-Length"} {
			if values, ok := h[name]; ok {
				h[strings.ToLower(name)] = values
				delete(h, name)
			}
		}
		return
	}
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil
	}
}

// authenticatesConnection reports whether a request authenticates the connection on which it is sent, and not only itself. The
// schemes NTLM and Negotiate do so, against RFC 9110, section 11: what follows on the connection has the rights of the user.
func authenticatesConnection(request http.Header) bool {
	return slices.ContainsFunc(request["Authorization"], hasConnectionScheme)
}

// hasConnectionScheme reports whether credentials or challenges begin with a scheme that authenticates a connection.
func hasConnectionScheme(value string) bool {
	for part := range strings.SplitSeq(value, ",") {
		scheme := strings.TrimLeft(part, " \t")
		if i := strings.IndexAny(scheme, " \t"); i >= 0 {
			scheme = scheme[:i]
		}
		if strings.EqualFold(scheme, "NTLM") || strings.EqualFold(scheme, "Negotiate") || strings.EqualFold(scheme, "Kerberos") {
			return true
		}
	}
	return false
}

// Forwards reports whether Max-Forwards lets a request pass, and decrements it (RFC 9110, section 7.6.2). If it does not, the proxy has to
// answer. The field has a meaning for OPTIONS and TRACE only.
func Forwards(r *http.Request) bool {
	values := r.Header["Max-Forwards"]
	if r.Method != http.MethodOptions && r.Method != http.MethodTrace || len(values) != 1 || strings.Trim(values[0], "0123456789") != "" {
		return true
	}
	n, err := strconv.ParseUint(values[0], 10, 64)
	if err != nil {
		return true // no number, or one that nothing reaches
	}
	if n > 0 {
		r.Header["Max-Forwards"] = []string{strconv.FormatUint(n-1, 10)}
	}
	return n > 0
}
