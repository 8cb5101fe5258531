package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// builder makes a graph node by node and link by link, and keeps the promises of
// Graph: no parallel links, no self loops, names that are unique.
type builder struct {
	graph  Graph
	notes  Notes
	limits Limits
	names  map[string]int // to the number that the next node of that name gets
	links  map[[2]int]int // ends, the smaller first, to the link's index
	read   int            // links, merged and dropped ones too
}

func newBuilder(l Limits) *builder {
	return &builder{limits: l.whole(), names: map[string]int{}, links: map[[2]int]int{}}
}

// node adds a node and returns its index; line is for the error if it is one too
// many.
func (b *builder) node(n Node, line int) (int, error) {
	if len(b.graph.Nodes) >= b.limits.Nodes {
		return 0, limitError(line, "nodes", b.limits.Nodes)
	}
	name := b.unique(clean(n.Name), len(b.graph.Nodes))
	if name != n.Name {
		b.notes.Renamed++
	}
	n.Name = name
	if !finite(n.X) || !finite(n.Y) {
		n.Placed = false
	}
	if !n.Placed {
		n.X, n.Y = 0, 0
	}
	b.names[name] = 2
	b.graph.Nodes = append(b.graph.Nodes, n)
	return len(b.graph.Nodes) - 1, nil
}

// unique returns a name that no node has: the name, or "node 7" for the node of that
// index without one, or the name followed by " (2)", " (3)" and so on.
func (b *builder) unique(name string, index int) string {
	if name == "" {
		name = fmt.Sprintf("node %d", index)
	}
	if b.names[name] == 0 {
		return name
	}
	for i := b.names[name]; ; i++ {
		if other := fmt.Sprintf("%s (%d)", name, i); b.names[other] == 0 {
			b.names[name] = i + 1
			return other
		}
	}
}

// clean returns a name as one line of valid UTF-8 without control characters, since
// keys of links and lines of files are made of names.
func clean(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD")))
}

// link joins two nodes; line is for the error if it is one link too many.
func (b *builder) link(x, y int, weight float64, line int) error {
	if b.read >= b.limits.Links {
		return limitError(line, "links", b.limits.Links)
	}
	b.read++
	if x == y {
		b.notes.SelfLoops++
		return nil
	}
	if !finite(weight) || weight <= 0 {
		b.notes.Unweighted++
		weight = 1
	}
	ends := [2]int{min(x, y), max(x, y)}
	if i, ok := b.links[ends]; ok {
		b.notes.Merged++
		b.graph.Links[i].Weight = min(b.graph.Links[i].Weight, weight)
		return nil
	}
	b.links[ends] = len(b.graph.Links)
	b.graph.Links = append(b.graph.Links, Link{ends[0], ends[1], weight})
	return nil
}

// done returns the graph; an input without nodes is none.
func (b *builder) done() (*Graph, Notes, error) {
	if len(b.graph.Nodes) == 0 {
		return nil, Notes{}, fmt.Errorf("%w: it has no nodes", ErrFormat)
	}
	b.graph.Nodes, b.graph.Links = slices.Clip(b.graph.Nodes), slices.Clip(b.graph.Links)
	return &b.graph, b.notes, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
