package squid

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Method is the method of a request, with the number that it has in keys.
type Method uint8

// The methods of RFC 9110 that have a number in Squid.
const (
	MethodGet Method = iota + 1
	methodPost
	methodPut
	methodHead
	methodConnect
	methodTrace
	methodOptions
	methodDelete
)

var methods = [...]string{MethodGet: "GET", methodPost: "POST", methodPut: "PUT", methodHead: "HEAD",
	methodConnect: "CONNECT", methodTrace: "TRACE", methodOptions: "OPTIONS", methodDelete: "DELETE"}

// String returns the name of the method.
func (m Method) String() string {
	if m == 0 || int(m) >= len(methods) {
		return fmt.Sprintf("method(%d)", uint8(m))
	}
	return methods[m]
}

// ParseMethod returns the method with the given name, in capitals. The error wraps umbel.ErrGoal.
func ParseMethod(name string) (Method, error) {
	for m := MethodGet; int(m) < len(methods); m++ {
		if methods[m] == name {
			return m, nil
		}
	}
	return 0, sentinel.Errorf(umbel.ErrGoal, "squid: method %.40q, want one of %s", name, strings.Join(methods[MethodGet:], ", "))
}

// AppendKey appends the bytes of a key to dst. Their MD5, with [Hasher], is Squid's store key of an object:
//
//	f.HasBytes(squid.AppendKey(nil, squid.MethodGet, uri, ""))
//
// uri is in the form of [CanonicalURI]. vary is the mark of a variant, see [VaryMark]. An object with variants
// also has the key with an empty mark, so that a query without a mark is true if some variant is present.
func AppendKey(dst []byte, m Method, uri, vary string) []byte {
	dst = append(dst, byte(m))
	dst = append(dst, uri...)
	return append(dst, vary...)
}

// Field is a header of a request that the response names in its Vary header.
type Field struct {
	Name   string
	Value  string // several headers of one name are joined by ", "
	Absent bool   // the request does not have the header
}

// VaryMark returns the mark of a variant. The fields are in the order of the Vary header. The names become
// lower case, and bytes of values that are not safe in a URL are escaped.
func VaryMark(fields ...Field) string {
	var b []byte
	for i, f := range fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, lower(f.Name)...)
		if !f.Absent {
			b = append(b, '=', '"')
			b = appendEscaped(b, f.Value)
			b = append(b, '"')
		}
	}
	return string(b)
}

// unescaped are the bytes besides letters and digits that a mark contains as they are. RFC 1738 has one more,
// the apostrophe; Squid 5.7 escapes it.
const unescaped = "!$()*+,-._"

func appendEscaped(dst []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if isLetter(c) || isDigit(c) || strings.IndexByte(unescaped, c) >= 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lower returns s with its ASCII letters in lower case. Other bytes stay, as in Squid.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
