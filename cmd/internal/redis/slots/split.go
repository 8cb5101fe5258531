package slots

import (
	"fmt"
	"strings"
)

// MaxSplit is the largest number of filters of a split filter.
const MaxSplit = 1024

// CheckSplit returns an error unless a split filter with the name can have n filters.
func CheckSplit(name string, n int) error {
	switch {
	case n < 1 || n > MaxSplit:
		return fmt.Errorf("a filter cannot be split into %d, want 1 to %d", n, MaxSplit)
	case strings.Contains(name, "{"):
		return fmt.Errorf("%q cannot be the name of a split filter, because it has a {, with which the tags of its filters begin", name)
	}
	return nil
}

// SplitName returns the name of filter i of a split filter with n filters: spec/split.md. The slots of the names are at even
// distances. i and n must be valid.
func SplitName(name string, i, n int) string {
	for r := 0; ; r++ {
		tag := fmt.Appendf(nil, "%d.%d.%d", i, n, r)
		if Of(tag)*n/Count == i {
			return name + "{" + string(tag) + "}"
		}
	}
}
