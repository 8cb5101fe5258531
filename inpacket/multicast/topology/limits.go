package topology

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrFormat is wrapped by the errors of readers whose input isn't a network of the
// format they read.
var ErrFormat = errors.New("topology: not a network")

// ErrLimit is wrapped by the errors of readers whose input is larger than their
// Limits allow.
var ErrLimit = errors.New("topology: network over a limit")

// Limits bound what a reader takes from an input that nobody vouches for. A field
// that is zero, or below, means the value named beside it.
type Limits struct {
	Nodes int   // 20 000
	Links int   // 200 000, counted before parallel ones are merged
	Line  int   // 65 536 bytes, of a line and of a text between quotes or tags
	Bytes int64 // 64 MiB, of the whole input
}

// whole returns the limits with the values that zeros mean.
func (l Limits) whole() Limits {
	return Limits{
		Nodes: cmp.Or(max(0, l.Nodes), 20_000), Links: cmp.Or(max(0, l.Links), 200_000),
		Line: cmp.Or(max(0, l.Line), 1<<16), Bytes: cmp.Or(max(0, l.Bytes), 64<<20),
	}
}

// formatError returns an error at a line of an input, which wraps ErrFormat.
func formatError(line int, format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrFormat, line, fmt.Sprintf(format, args...))
}

// limitError returns an error at a line of an input, which wraps ErrLimit.
func limitError(line int, what string, limit any) error {
	return fmt.Errorf("%w: line %d: more than %v %s; raise the limit if the input is trusted", ErrLimit, line, limit, what)
}
