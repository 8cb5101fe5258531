package command

import (
	"strconv"
	"strings"
)

// Is reports whether a word of a call is an option, ignoring case.
func Is(word []byte, option string) bool {
	return len(word) == len(option) && strings.EqualFold(string(word), option)
}

// ParseInt parses a whole number as Redis does: without plus sign and without leading zeros.
func ParseInt(word []byte) (int64, bool) {
	if len(word) > len("-9223372036854775808") {
		return 0, false
	}
	s := string(word)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// Quote quotes the beginning of input for an error.
func Quote(word []byte) string { return strconv.Quote(string(word[:min(len(word), 64)])) }

// Clip returns the beginning of input on one line, for an error with Redis' text.
func Clip(word []byte) string { return oneLine.Replace(string(word[:min(len(word), 128)])) }
