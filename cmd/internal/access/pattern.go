package access

import "fmt"

// checkPattern returns an error for a pattern with an unclosed set or a final backslash, which
// would not mean what its author intended.
func checkPattern(pattern string) error {
	open := false
	for p := 0; p < len(pattern); p++ {
		switch c := pattern[p]; {
		case c == '\\':
			if p++; p == len(pattern) {
				return fmt.Errorf("pattern %q ends in a backslash", pattern)
			}
		case c == '[':
			open = true
		case c == ']':
			open = false
		}
	}
	if open {
		return fmt.Errorf("pattern %q has an unclosed [", pattern)
	}
	if pattern == "" {
		return fmt.Errorf("empty pattern; use %q for every name", all)
	}
	return nil
}
