package httpcache

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// variesByAll reports whether Vary has the member "*", so that no other request selects the response.
func variesByAll(vary []string) bool { return slices.Contains(members(vary), "*") }

// varyNames returns the canonical names in Vary, sorted, each once.
func varyNames(vary []string) []string {
	names := members(vary)
	for i, name := range names {
		names[i] = textproto.CanonicalMIMEHeaderKey(name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// members returns the members of a list field without empty ones.
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

// variantOf returns what the fields with these names select: requests with equal results get the same response (RFC 9111,
// section 4.1).
func variantOf(names []string, h http.Header) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name)
		if values := h[name]; len(values) > 0 {
			b.WriteByte(':')
			b.WriteString(normalized(name, values))
		}
		b.WriteByte('\n') // which no value contains
	}
	return b.String()
}

// selectedBy returns the fields of a request with these names.
func selectedBy(names []string, request http.Header) http.Header {
	var h http.Header
	for _, name := range names {
		if values := request[name]; len(values) > 0 {
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
	}
	return strings.Join(members(values), ",")
}

// normalizedEncodings returns the codings that Accept-Encoding accepts, sorted. Their weights are only preferences.
// Without this, each browser would have variants of its own.
func normalizedEncodings(values []string) string {
	list := members(values)
	accepted := list[:0]
	for _, member := range list {
		coding, parameters, _ := strings.Cut(strings.ToLower(member), ";")
		coding = strings.TrimPrefix(strings.TrimSpace(coding), "x-")
		if weight := strings.ReplaceAll(parameters, " ", ""); strings.HasPrefix(weight, "q=0") && strings.Trim(weight[3:], ".0") == "" {
			coding += ";q=0" // it refuses the coding
		}
		accepted = append(accepted, coding)
	}
	slices.Sort(accepted)
	return strings.Join(slices.Compact(accepted), ",")
}
