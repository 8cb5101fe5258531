package topology

import (
	"cmp"
	"strconv"
	"strings"
)

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
