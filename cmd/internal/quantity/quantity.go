// Package quantity reads and writes numbers as people do: rates, counts and sizes.
// Each is a flag value.
package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// decimals are the powers of ten that a letter behind a number stands for.
var decimals = map[byte]int{'k': 3, 'K': 3, 'M': 6, 'G': 9, 'T': 12, 'P': 15, 'E': 18}

// number reads a decimal number that isn't negative, with thousands set apart by
// commas or underscores if at all, and moves its point by shift digits. The result
// is the nearest float: the shift goes into the exponent and is not a
// multiplication.
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

// whole reads a number of digits alone, exactly.
func whole(s string) (uint64, bool) {
	digits, ok := ungroup(s)
	n, err := strconv.ParseUint(strings.TrimSuffix(digits, "."), 10, 64)
	return n, ok && err == nil
}

// ungroup takes the separators out of a number such as 1,000,000 or 1_000_000.5
// and reports whether it is made of digits, at most one point, and separators
// before each three digits of its whole part.
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

// clip shortens what goes into an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// group writes n with a comma before each three digits.
func group(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// significant writes f with three significant digits and no exponent.
func significant(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
