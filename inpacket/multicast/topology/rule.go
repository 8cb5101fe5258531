package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrRule is wrapped where a rule isn't one that networks are made by.
var ErrRule = errors.New("topology: no such rule")

// Rules says how rules are written, for people.
const Rules = "grid:ROWSxCOLUMNS, ring:N, line:N, star:N, fat-tree:K, waxman:N or barabasi-albert:NxM"

// Waxman's parameters of networks made by [Make]: those of a network of a hundred nodes
// with about as many links per node as networks of carriers have.
const (
	makeAlpha = 0.15
	makeBeta  = 0.4
)

// Make returns the network of a rule, such as grid:6x6: see [Rules]. What is drawn
// follows from the seed. Errors wrap [ErrRule], or [ErrSize] where only the numbers
// won't do.
func Make(rule string, seed uint64) (*Graph, error) {
	name, text, _ := strings.Cut(rule, ":")
	want := 1
	if name == "grid" || name == "barabasi-albert" {
		want = 2
	}
	var sizes []int
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("%w: %q, want %s", ErrRule, rule, Rules)
		}
		sizes = append(sizes, n)
	}
	if len(sizes) != want {
		return nil, fmt.Errorf("%w: %q has %d numbers, want %s", ErrRule, rule, len(sizes), Rules)
	}
	switch name {
	case "grid":
		return Grid(sizes[0], sizes[1])
	case "ring":
		return Ring(sizes[0])
	case "line":
		return Line(sizes[0])
	case "star":
		return Star(sizes[0])
	case "fat-tree":
		return FatTree(sizes[0])
	case "waxman":
		return Waxman(sizes[0], makeAlpha, makeBeta, seed)
	case "barabasi-albert":
		return BarabasiAlbert(sizes[0], sizes[1], seed)
	}
	return nil, fmt.Errorf("%w: %q, want %s", ErrRule, rule, Rules)
}
