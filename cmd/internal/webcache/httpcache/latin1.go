package httpcache

import (
	"fmt"
	"unicode/utf8"
)

// latin1 is a string of any bytes, in JSON as the characters U+0000 to U+00FF. Field values and URLs may have bytes that are not UTF-8,
// which JSON would replace: different URLs would be one.
type latin1 string

// MarshalText returns a character for each byte.
func (s latin1) MarshalText() ([]byte, error) {
	text := make([]byte, 0, len(s))
	for _, b := range []byte(s) {
		text = utf8.AppendRune(text, rune(b))
	}
	return text, nil
}

// UnmarshalText sets s to a byte for each character. The error wraps errDamaged for other characters.
func (s *latin1) UnmarshalText(text []byte) error {
	b := make([]byte, 0, len(text))
	for _, c := range string(text) {
		if c > 0xff {
			return fmt.Errorf("%w: the character %U", errDamaged, c)
		}
		b = append(b, byte(c))
	}
	*s = latin1(b)
	return nil
}

// convert returns the fields of a header with another type of values, nil for nil.
func convert[To, From ~string](h map[string][]From) map[string][]To {
	if h == nil {
		return nil
	}
	fields := make(map[string][]To, len(h))
	for name, values := range h {
		list := make([]To, len(values))
		for i, v := range values {
			list[i] = To(v)
		}
		fields[name] = list
	}
	return fields
}
