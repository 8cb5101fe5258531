// Package quantity parses and formats rates, counts and sizes for people. Each is a flag value.
package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// decimals contains the power of ten of each letter.
var decimals = map[byte]int{'k': 3, 'K': 3, 'M': 6, 'G': 9, 'T': 12, 'P': 15, 'E': 18}

// number parses a nonnegative decimal number, with optional commas or underscores between
// thousands, and multiplies it by 10^shift. The result is the nearest float, because the shift is
// added to the exponent.
func number(s string, shift int) (float64, bool) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e < -1000 || e > 1000 {
			return 0, false
		}
		mantissa, exponent = s[:i], e
	}
	mantissa, ok := ungroup(mantissa)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(exponent+shift), 64)
	return f, err == nil
}

// whole parses a number that consists of digits, exactly.
func whole(s string) (uint64, bool) {
	digits, ok := ungroup(s)
	n, err := strconv.ParseUint(strings.TrimSuffix(digits, "."), 10, 64)
	return n, ok && err == nil
}

// ungroup removes the separators of a number such as 1,000,000 or 1_000_000.5. It reports whether
// the number consists of digits, at most one point, and separators between groups of three
// digits of its integer part.
func ungroup(s string) (string, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	groups := strings.FieldsFunc(whole, func(c rune) bool { return c == ',' || c == '_' })
	digits := strings.Join(groups, "")
	if separators := len(whole) - len(digits); separators > 0 {
		if separators != len(groups)-1 || len(groups[0]) > 3 {
			return "", false
		}
		for _, g := range groups[1:] {
			if len(g) != 3 {
				return "", false
			}
		}
	}
	if !isDigits(digits) || !isDigits(fraction) || digits+fraction == "" {
		return "", false
	}
	return digits + "." + fraction, true
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// clip shortens text for an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// group formats n with commas between groups of three digits.
func group(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// significant formats f with three significant digits and no exponent.
func significant(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
