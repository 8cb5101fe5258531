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

// draft takes nodes and links in any order, as GML and GraphML have them, by the
// ids of the file and with attributes.
type draft struct {
	*builder
	ids   map[string]int
	edges []edge
}

// edge is a link whose nodes may not be known yet.
type edge struct {
	source, target string
	weight         float64
	line           int
}

func newDraft(l Limits) *draft { return &draft{builder: newBuilder(l), ids: map[string]int{}} }

// attributes are what a file says of a node or link, by the key in lower case.
type attributes map[string]string

func (a attributes) set(key, value string) {
	switch key = strings.ToLower(key); key {
	case "id", "source", "target", "label", "name", "longitude", "latitude", "lon", "lat", "x", "y", "weight", "dist":
		if _, ok := a[key]; !ok {
			a[key] = strings.TrimSpace(value)
		}
	}
}

// number returns the number of the first of some keys that there is, and whether
// there is one.
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

// addNode adds a node: its name is its label, else its name, else its id.
func (d *draft) addNode(a attributes, line int) error {
	id := a["id"]
	if id == "" {
		return formatError(line, "a node without id")
	}
	if _, ok := d.ids[id]; ok {
		return formatError(line, "node %.40q a second time", id)
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

// addEdge adds a link, of weight 1 unless the file has another or a length.
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

// finish joins the nodes, and returns the graph.
func (d *draft) finish() (*Graph, Notes, error) {
	for _, e := range d.edges {
		s, ok := d.ids[e.source]
		if !ok {
			return nil, Notes{}, formatError(e.line, "a link from node %.40q, which there isn't", e.source)
		}
		t, ok := d.ids[e.target]
		if !ok {
			return nil, Notes{}, formatError(e.line, "a link to node %.40q, which there isn't", e.target)
		}
		if err := d.link(s, t, e.weight, e.line); err != nil {
			return nil, Notes{}, err
		}
	}
	return d.done()
}
