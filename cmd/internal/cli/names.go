package cli

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameWords returns the name of a filter, quoted if a character isn't printable.
func NameWords(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
