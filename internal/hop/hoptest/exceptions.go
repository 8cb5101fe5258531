package hoptest

import (
	"net/http"
	"slices"
	"strings"
)

// direction is that of a message.
type direction int

// Request is from the client to the origin, Answer the other way; Both is either.
const (
	Request direction = 1 + iota
	Answer
	Both
)

// change is what may become of a field.
type change int

const (
	// Replaced fields may change, come and go.
	Replaced change = iota
	// Gone fields must not arrive.
	Gone
	// MayGo fields arrive as they were sent, or not at all.
	MayGo
	// Added fields arrive even if they were not sent; those that were sent stay.
	Added
	// Appended fields get one value more, after those that were sent.
	Appended
	// First fields arrive with their first value only.
	First
)

// Exception is a field that a proxy changes.
type Exception struct {
	Of     direction
	Names  string // separated by spaces
	Change change
	Why    string
	// If, unless it is nil, limits the exception to some methods of requests.
	If func(method string) bool
}

// required are the changes that every proxy makes.
var required = []Exception{
	{Both, "Connection", Replaced, "is that of another connection (RFC 9110, section 7.6.1)", nil},
	{Both, "Keep-Alive X-Hop", Gone, "concern one connection, or are listed in Connection (RFC 9110, section 7.6.1)", nil},
	{Both, "Content-Length Transfer-Encoding", Replaced, "frame a body on one connection (RFC 9112, section 6)", nil},
	{Both, "Trailer", Replaced, "lists what the proxy announces (RFC 9110, section 6.6.2)", nil},
	{Request, "Host", Replaced, "is that of the origin (RFC 9110, section 7.2)", nil},
	{Both, "Via", Appended, "names the proxy (RFC 9110, section 7.6.3)", nil},
	{Answer, "Date", Added, "is added if it is missing (RFC 9110, section 6.6.1)", nil},
}

// compare returns the difference between the fields that were sent and those that arrived, empty for none.
func compare(of direction, exceptions []Exception, method string, sent, arrived http.Header) string {
	rule := map[string]change{}
	for _, x := range exceptions {
		if (x.Of == of || x.Of == Both) && (x.If == nil || x.If(method)) {
			for name := range strings.FieldsSeq(x.Names) {
				rule[http.CanonicalHeaderKey(name)] = x.Change
			}
		}
	}
	names := map[string]struct{}{}
	for name := range sent {
		names[name] = struct{}{}
	}
	for name := range arrived {
		names[http.CanonicalHeaderKey(name)] = struct{}{}
	}
	for name := range names {
		want, got := sent[name], arrived[name]
		how, is := rule[name]
		ok := slices.Equal(want, got)
		if is {
			switch how {
			case Replaced:
				ok = true
			case Gone:
				ok = len(got) == 0
			case MayGo:
				ok = ok || len(got) == 0
			case Added:
				ok = ok || len(want) == 0
			case Appended:
				ok = ok || len(got) == len(want)+1 && slices.Equal(got[:len(want)], want)
			case First:
				ok = ok || len(want) > 0 && slices.Equal(got, want[:1])
			}
		}
		if !ok {
			return name + " was sent as " + quoted(want) + " and arrived as " + quoted(got)
		}
	}
	return ""
}
