package access

import "fmt"

// checkPattern returns an error for a pattern with a set that doesn't end, or with nothing
// behind its last backslash: it would mean something else than was thought.
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
		return fmt.Errorf("pattern %q: a set isn't closed by ]", pattern)
	}
	if pattern == "" {
		return fmt.Errorf("pattern is empty; %q is every name", all)
	}
	return nil
}
