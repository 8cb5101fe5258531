package quantity

import (
	"fmt"
	"math"
	"strings"
)

// Count is a number of items.
type Count uint64

// ParseCount parses an integer written as 1000000, 1,000,000, 1e6, 1000k or 1M.
func ParseCount(s string) (Count, error) {
	if n, ok := whole(s); ok {
		return Count(n), nil
	}
	f, ok := scaled(s)
	if !ok {
		return 0, fmt.Errorf("count %q: want a whole number such as 1000000, 1,000,000, 1e6 or 1M", clip(s))
	}
	if f != math.Trunc(f) {
		return 0, fmt.Errorf("count %q is not a whole number", clip(s))
	}
	if f >= 1<<64 {
		return 0, fmt.Errorf("count %q is more than 2^64-1", clip(s))
	}
	return Count(f), nil
}

// scaled parses a number with an optional letter k, M, G, T, P or E.
func scaled(s string) (float64, bool) {
	if s == "" {
		return 0, false
	}
	last := len(s) - 1
	if shift, ok := decimals[s[last]]; ok {
		return number(s[:last], shift)
	}
	return number(s, 0)
}

// Set is ParseCount for a flag.
func (c *Count) Set(s string) (err error) {
	*c, err = ParseCount(s)
	return err
}

// String returns the number with commas between groups of three digits.
func (c Count) String() string { return group(uint64(c)) }

// Of returns the number with what is counted, a noun in the singular: "1 key", "2,000 keys" or "3 batches".
func (c Count) Of(noun string) string {
	switch {
	case c == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return c.String() + " " + noun
}

// Type names the flag's value in help texts.
func (c *Count) Type() string { return "count" }
