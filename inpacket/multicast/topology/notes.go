package topology

import (
	"fmt"
	"strings"
)

// Notes count what a reader changed to make a Graph of what it read. All zero: the
// graph is just what the input says.
type Notes struct {
	Merged     int // links between nodes that a link joined already, in either direction unless the format has a line for each; the lowest weight is kept
	SelfLoops  int // links from a node to itself, dropped
	Renamed    int // nodes whose name was empty, not unique or held control characters
	Unweighted int // links whose weight was no finite number above 0: it is 1
}

// String returns the counts that aren't zero in words, "as read" if there are none.
func (n Notes) String() string {
	var words []string
	for _, c := range []struct {
		count int
		what  string
	}{
		{n.Merged, "repeated links merged"},
		{n.SelfLoops, "self loops dropped"},
		{n.Renamed, "nodes renamed"},
		{n.Unweighted, "unusable weights set to 1"},
	} {
		if c.count > 0 {
			words = append(words, fmt.Sprintf("%d %s", c.count, c.what))
		}
	}
	if words == nil {
		return "as read"
	}
	return strings.Join(words, ", ")
}
