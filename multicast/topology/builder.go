package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// builder makes a graph node by node and link by link. It ensures the invariants of
// Graph: no parallel links, no self loops, unique names.
type builder struct {
	graph  Graph
	notes  Notes
	limits Limits
	names  map[string]int // the number for the next node of the name
	links  map[[2]int]int // from ends, the smaller first, to the link's index
	read   int            // number of links read, including merged and dropped ones
}

func newBuilder(l Limits) *builder {
	return &builder{limits: l.whole(), names: map[string]int{}, links: map[[2]int]int{}}
}

// node adds a node and returns its index. line is the line number for the error if there
// are too many nodes.
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

// unique returns a name that no node has: the name, or "node 7" for an empty name of the
// node with index 7, followed by " (2)", " (3)" and so on if an earlier node has it.
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

// clean returns a name as one line of valid UTF-8 without control characters, because
// names are used in keys of links and lines of files.
func clean(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD")))
}

// link joins two nodes. line is the line number for the error if there are too many
// links.
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

// done returns the graph. It returns an error if there are no nodes.
func (b *builder) done() (*Graph, Notes, error) {
	if len(b.graph.Nodes) == 0 {
		return nil, Notes{}, fmt.Errorf("%w: it has no nodes", ErrFormat)
	}
	b.graph.Nodes, b.graph.Links = slices.Clip(b.graph.Nodes), slices.Clip(b.graph.Links)
	return &b.graph, b.notes, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// draft accepts nodes and links in any order, with the ids and attributes of the file, as
// in GML and GraphML.
type draft struct {
	*builder
	ids   map[string]int
	edges []edge
}

// edge is a link whose nodes may be unknown yet.
type edge struct {
	source, target string
	weight         float64
	line           int
}

func newDraft(l Limits) *draft { return &draft{builder: newBuilder(l), ids: map[string]int{}} }

// attributes are the attributes of a node or link in a file, by key in lower case.
type attributes map[string]string

func (a attributes) set(key, value string) {
	switch key = strings.ToLower(key); key {
	case "id", "source", "target", "label", "name", "longitude", "latitude", "lon", "lat", "x", "y", "weight", "dist":
		if _, ok := a[key]; !ok {
			a[key] = strings.TrimSpace(value)
		}
	}
}

// number returns the number of the first of several keys that is present, and whether any
// is.
func (a attributes) number(line int, keys ...string) (float64, bool, error) {
	for _, key := range keys {
		if text := a[key]; text != "" {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, false, formatError(line, "%s %.40q, want a number", key, text)
			}
			return x, true, nil
		}
	}
	return 0, false, nil
}

// addNode adds a node. Its name is its label, or else its name, or else its id.
func (d *draft) addNode(a attributes, line int) error {
	id := a["id"]
	if id == "" {
		return formatError(line, "a node without an id")
	}
	if _, ok := d.ids[id]; ok {
		return formatError(line, "repeated node %.40q", id)
	}
	x, hasX, err := a.number(line, "longitude", "lon", "x")
	if err != nil {
		return err
	}
	y, hasY, err := a.number(line, "latitude", "lat", "y")
	if err != nil {
		return err
	}
	name := cmp.Or(a["label"], a["name"], id)
	d.ids[id], err = d.node(Node{Name: name, X: x, Y: y, Placed: hasX && hasY}, line)
	return err
}

// addEdge adds a link. Its weight is the file's weight or length, or else 1.
func (d *draft) addEdge(a attributes, line int) error {
	if len(d.edges) >= d.limits.Links {
		return limitError(line, "links", d.limits.Links)
	}
	if a["source"] == "" || a["target"] == "" {
		return formatError(line, "a link without source or target")
	}
	weight, ok, err := a.number(line, "weight", "dist")
	if err != nil {
		return err
	}
	if !ok {
		weight = 1
	}
	d.edges = append(d.edges, edge{a["source"], a["target"], weight, line})
	return nil
}

// finish joins the nodes and returns the graph.
func (d *draft) finish() (*Graph, Notes, error) {
	for _, e := range d.edges {
		s, ok := d.ids[e.source]
		if !ok {
			return nil, Notes{}, formatError(e.line, "a link from unknown node %.40q", e.source)
		}
		t, ok := d.ids[e.target]
		if !ok {
			return nil, Notes{}, formatError(e.line, "a link to unknown node %.40q", e.target)
		}
		if err := d.link(s, t, e.weight, e.line); err != nil {
			return nil, Notes{}, err
		}
	}
	return d.done()
}
