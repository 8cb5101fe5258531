package hoptest

import (
	"fmt"
	"slices"
	"strings"
)

// Exceptions are what a proxy changes besides what all proxies do. Names are in lower case.
type Exceptions struct {
	// Extended are fields to which the proxy adds values after those that it received.
	Extended []string
	// Own are fields that the proxy sets, replaces or removes.
	Own []string
}

// ofConnection are the fields of one connection, and those of framing.
var ofConnection = []string{
	"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
}

// listed returns the names that Connection lists.
func listed(fields []Field) (names []string) {
	for _, f := range fields {
		if strings.EqualFold(f.Name, "Connection") {
			for name := range strings.SplitSeq(f.Value, ",") {
				names = append(names, strings.ToLower(strings.Trim(name, " \t")))
			}
		}
	}
	return names
}

// byName returns the values of fields by their names, without those of the connection and some.
func byName(fields []Field, some []string) map[string][]string {
	skip := slices.Concat(some, listed(fields), ofConnection)
	values := map[string][]string{}
	for _, f := range fields {
		if name := strings.ToLower(f.Name); !slices.Contains(skip, name) {
			values[name] = append(values[name], f.Value)
		}
	}
	return values
}

// compareFields returns how fields that arrived differ from those that were sent.
func compareFields(sent, arrived []Field, ex Exceptions, added ...string) (differences []string) {
	var unknown []string
	if names := listed(sent); slices.Contains(names, "close") {
		unknown = names
	}
	want, got := byName(sent, unknown), byName(arrived, unknown)
	names := map[string]bool{}
	for name := range want {
		names[name] = true
	}
	for name := range got {
		names[name] = true
	}
	for name := range names {
		a, b := want[name], got[name]
		switch {
		case slices.Contains(ex.Own, name), slices.Equal(a, b):
		case slices.Contains(ex.Extended, name) && len(b) > len(a) && slices.Equal(a, b[:len(a)]):
		case slices.Contains(added, name) && a == nil:
		default:
			differences = append(differences, fmt.Sprintf("%s is %q, want %q", name, b, a))
		}
	}
	slices.Sort(differences)
	return differences
}

// compareRequest returns how a request that arrived differs from what was sent.
func compareRequest(want, got Message, ex Exceptions) (differences []string) {
	if line := want.Line + " HTTP/1.1"; got.Line != line {
		differences = append(differences, fmt.Sprintf("the line is %q, want %q", got.Line, line))
	}
	got.Fields = without(got.Fields, "content-length")
	want.Fields = without(want.Fields, "content-length")
	differences = append(differences, compareFields(want.Fields, got.Fields, ex)...)
	return append(differences, compareBody(want, got)...)
}

// compareAnswer returns how an answer that arrived differs from what was sent.
func compareAnswer(want, got Message, ex Exceptions, empty bool) (differences []string) {
	if want.Status() != got.Status() {
		differences = append(differences, fmt.Sprintf("the status is %d, want %d", got.Status(), want.Status()))
	}
	if !empty {
		got.Fields = without(got.Fields, "content-length")
	}
	differences = append(differences, compareFields(want.Fields, got.Fields, ex, "date")...)
	if len(want.Interim) != len(got.Interim) {
		differences = append(differences, fmt.Sprintf("%d interim answers, want %d", len(got.Interim), len(want.Interim)))
	} else {
		for i, m := range got.Interim {
			differences = append(differences, compareAnswer(Message{Line: want.Interim[i].Line, Fields: want.Interim[i].Fields}, Message{Line: m.Line, Fields: m.Fields}, Exceptions{}, true)...)
		}
	}
	return append(differences, compareBody(want, got)...)
}

func compareBody(want, got Message) (differences []string) {
	if want.Body != got.Body {
		differences = append(differences, fmt.Sprintf("the body has %d bytes, want %d, or others", len(got.Body), len(want.Body)))
	}
	return append(differences, compareFields(want.Trailers, got.Trailers, Exceptions{})...)
}

func without(fields []Field, name string) []Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return strings.EqualFold(f.Name, name) })
}
