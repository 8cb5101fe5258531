package siblings

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const acceptEncoding = "Accept-Encoding"

// identity is the coding of a body that is not encoded.
const identity = "identity"

// codings are those for which servers have variants, the one to be preferred first.
var codings = []string{"zstd", "br", "gzip"}

// coding returns the best coding that a request accepts. Clients write the same preferences in many ways, and
// a key for each of them would leave few requests in common.
func coding(h http.Header) string {
	if len(h[acceptEncoding]) == 0 {
		return identity
	}
	for _, c := range codings {
		if accepts(h, c) {
			return c
		}
	}
	return identity
}

// accepts reports whether a request accepts a content coding (RFC 9110, section 12.5.3).
func accepts(h http.Header, coding string) bool {
	named, any := -1.0, -1.0
	for _, value := range h[acceptEncoding] {
		for item := range strings.SplitSeq(value, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, coding), coding == "gzip" && strings.EqualFold(name, "x-gzip"):
				named = weight(parameters)
			case name == "*":
				any = weight(parameters)
			}
		}
	}
	switch {
	case named >= 0:
		return named > 0
	case any >= 0:
		return any > 0
	}
	return coding == identity
}

// weight returns the parameter q, 1 if there is none.
func weight(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		if value, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(p)), "q="); ok {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}

// encodedFor reports whether a request accepts all codings of a response's body.
func encodedFor(request, response http.Header) bool {
	return !slices.ContainsFunc(list(response["Content-Encoding"]), func(c string) bool {
		return !strings.EqualFold(c, identity) && !accepts(request, strings.ToLower(c))
	})
}

// list returns the items of a header whose value is a list, without spaces and empty items.
func list(values []string) (items []string) {
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}
