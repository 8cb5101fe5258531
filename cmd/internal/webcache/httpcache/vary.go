package httpcache

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/internal/hop"
)

// validVary reports whether other requests can select a response with this Vary. With the member "*" none does, and a
// member that is not the name of a field has no known meaning.
func validVary(vary []string) bool {
	return !slices.ContainsFunc(members(vary), func(name string) bool { return name == "*" || strings.ContainsFunc(name, notInToken) })
}

// notInToken reports whether a token (RFC 9110, section 5.6.2) does not contain r.
func notInToken(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// varyNames returns the canonical names in Vary, sorted, each once.
func varyNames(vary []string) []string {
	names := members(vary)
	for i, name := range names {
		names[i] = textproto.CanonicalMIMEHeaderKey(name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// members returns the members of a list of names or the like, without empty ones.
func members(values []string) (list []string) {
	for _, value := range values {
		for member := range strings.SplitSeq(value, ",") {
			if member = strings.Trim(member, " \t"); member != "" {
				list = append(list, member)
			}
		}
	}
	return list
}

// nextMember splits the first member off a list. A comma in a quoted string does not end it.
func nextMember(s string) (member, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return strings.Trim(s[:i], " \t"), s[i+1:]
		}
	}
	return strings.Trim(s, " \t"), ""
}

// variantOf returns what the fields with these names select: requests with equal results get the same response (RFC 9111,
// section 4.1).
func variantOf(names []string, h http.Header) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name)
		if values := sent(h, name); len(values) > 0 {
			b.WriteByte(':')
			b.WriteString(normalized(name, values))
		}
		b.WriteByte('\n') // which no value contains
	}
	return b.String()
}

// sent returns the values of a field that the origin gets: its answer does not depend on others, even if Vary names them.
func sent(request http.Header, name string) []string {
	values := request[name]
	if len(values) == 0 || slices.Contains(unkeyed, name) || hop.Removes(request, name) {
		return nil
	}
	return values
}

// selectedBy returns the fields of a request with these names.
func selectedBy(names []string, request http.Header) http.Header {
	var h http.Header
	for _, name := range names {
		if values := sent(request, name); len(values) > 0 {
			if h == nil {
				h = http.Header{}
			}
			h[name] = values
		}
	}
	return h
}

// normalized returns the values of a field in one of the forms with the same meaning.
func normalized(name string, values []string) string {
	switch name {
	case "Accept-Encoding":
		return normalizedEncodings(values)
	case "Accept-Language":
		// The order stays: some origins prefer the first language.
		return strings.ReplaceAll(strings.ToLower(strings.Join(members(values), ",")), " ", "")
	case "Authorization", "Cookie", "Origin", "Referer", "User-Agent":
		return strings.Join(values, ", ") // they are no lists: spaces after a comma belong to the value
	}
	var list []string
	for _, value := range values {
		for member, rest := "", value; rest != ""; {
			if member, rest = nextMember(rest); member != "" {
				list = append(list, member)
			}
		}
	}
	return strings.Join(list, ",")
}

// normalizedEncodings returns the codings that Accept-Encoding accepts, sorted. Their weights are only preferences.
// Without this, each browser would have variants of its own.
func normalizedEncodings(values []string) string {
	list := members(values)
	accepted := list[:0]
	for _, member := range list {
		coding, weight, _ := strings.Cut(strings.ToLower(member), ";")
		coding = strings.TrimPrefix(strings.TrimSpace(coding), "x-")
		switch number, isWeight := strings.CutPrefix(strings.TrimSpace(weight), "q="); {
		case weight == "":
		case !isWeight || strings.Trim(number, ".0123456789") != "":
			coding += ";" + weight // another parameter, or an invalid one
		case strings.Trim(number, ".0") == "":
			coding += ";q=0" // it refuses the coding
		}
		accepted = append(accepted, coding)
	}
	slices.Sort(accepted)
	return strings.Join(slices.Compact(accepted), ",")
}
