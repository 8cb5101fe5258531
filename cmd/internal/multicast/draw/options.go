package draw

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// ErrOptions means that options refer to something that the graph doesn't have.
var ErrOptions = errors.New("options don't fit the graph")

// Options select what is drawn over a graph. All are optional.
type Options struct {
	Title  string         // default: the graph's name
	ID     string         // prefix of the ids in the picture, for pages with more than one picture: letters, digits and "-"; default "umbel"
	Tree   *tree.Tree     // a tree of this graph: its arcs, source and receivers
	False  []topology.Arc // arcs off the tree that a packet took; repeated ones are drawn once
	Failed []int          // links that are down
	Lost   []int          // receivers that did not receive the packet
	Loads  []int          // number of packets by arc of the graph, at least 0; links with more packets are wider
	Names  bool           // whether to write the names of all nodes, not only of the source and the receivers
}

// check returns an error wrapping ErrOptions unless the options fit the graph.
func (o Options) check(g *topology.Graph) error {
	for i, r := range o.ID {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return fmt.Errorf("%w: id %.40q, want a letter, then letters, digits and -", ErrOptions, o.ID)
		}
	}
	if o.Tree != nil {
		if o.Tree.Graph != g {
			return fmt.Errorf("%w: the tree is of another graph", ErrOptions)
		}
		if err := o.Tree.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrOptions, err)
		}
	}
	for _, a := range o.False {
		if a < 0 || int(a) >= 2*len(g.Links) {
			return fmt.Errorf("%w: arc %d, the graph has arcs 0 to %d", ErrOptions, a, 2*len(g.Links)-1)
		}
	}
	for _, l := range o.Failed {
		if l < 0 || l >= len(g.Links) {
			return fmt.Errorf("%w: link %d, the graph has links 0 to %d", ErrOptions, l, len(g.Links)-1)
		}
	}
	for _, v := range o.Lost {
		if v < 0 || v >= len(g.Nodes) {
			return fmt.Errorf("%w: node %d, the graph has nodes 0 to %d", ErrOptions, v, len(g.Nodes)-1)
		}
	}
	if len(o.Loads) != 0 && len(o.Loads) != 2*len(g.Links) {
		return fmt.Errorf("%w: loads of %d arcs, the graph has %d", ErrOptions, len(o.Loads), 2*len(g.Links))
	}
	for a, n := range o.Loads {
		if n < 0 {
			return fmt.Errorf("%w: load %d of arc %d, want 0 or more", ErrOptions, n, a)
		}
	}
	return nil
}

// title returns the picture's title.
func (o Options) title(g *topology.Graph) string {
	switch {
	case o.Title != "":
		return o.Title
	case g.Name != "":
		return g.Name
	}
	return "Network"
}

// description describes the contents of the picture in words.
func (o Options) description(g *topology.Graph) string {
	text := fmt.Sprintf("A network of %s and %s.", counted(len(g.Nodes), "node"), counted(len(g.Links), "link"))
	if t := o.Tree; t != nil {
		text += fmt.Sprintf(" A tree of %s leads from %s to %s, at most %s deep.",
			counted(len(t.Steps), "link"), g.Nodes[t.Source].Name, counted(len(t.Receivers), "receiver"), counted(t.Depth(), "hop"))
	}
	for _, also := range []struct {
		count int
		what  string
	}{{len(o.False), "false forward"}, {len(o.Failed), "failed link"}, {len(o.Lost), "lost receiver"}} {
		if also.count > 0 {
			text += " " + counted(also.count, also.what) + "."
		}
	}
	return text
}

// counted returns a number with its noun.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// style is the style sheet of a drawing, light or dark according to the reader's system.
// Its rules apply only below the class of the drawing. The colors are those of Okabe and
// Ito 2008, which most color-blind people can distinguish, lighter on the dark
// background.
const style = `
.umbel-network{font:12px system-ui,sans-serif}
.umbel-network .ground{fill:#fff}
.umbel-network path{fill:none;stroke-linecap:round}
.umbel-network .link{stroke:#b4b9c1;stroke-width:1}
.umbel-network .load{stroke:#009e73;stroke-opacity:.75;stroke-width:4}
.umbel-network .failed{stroke:#666;stroke-width:2;stroke-dasharray:.1 5}
.umbel-network .way{stroke:#0072b2;stroke-width:3;stroke-linecap:butt}
.umbel-network .stray{stroke:#c04a00;stroke-width:2;stroke-dasharray:6 3;stroke-linecap:butt}
.umbel-network .way-head path{fill:#0072b2}
.umbel-network .stray-head path{fill:#c04a00}
.umbel-network .node{fill:#fff;stroke:#6b7280;stroke-width:1}
.umbel-network .source{fill:#0072b2;stroke:#fff;stroke-width:1.5}
.umbel-network .receiver{fill:#f0c000;stroke:#222;stroke-width:1.5}
.umbel-network .lost{fill:#fff;stroke:#c04a00;stroke-width:2}
.umbel-network text{fill:#1b1f24;stroke:#fff;stroke-width:3;paint-order:stroke;stroke-linejoin:round}
@media(prefers-color-scheme:dark){
.umbel-network .ground{fill:#15181d}
.umbel-network .link{stroke:#4a515c}
.umbel-network .load{stroke:#2cc59a}
.umbel-network .failed{stroke:#a2a8b1}
.umbel-network .way{stroke:#56b4e9}
.umbel-network .stray{stroke:#ff9a4d}
.umbel-network .way-head path{fill:#56b4e9}
.umbel-network .stray-head path{fill:#ff9a4d}
.umbel-network .node{fill:#15181d;stroke:#9aa2ad}
.umbel-network .source{fill:#56b4e9;stroke:#15181d}
.umbel-network .receiver{fill:#f0e442;stroke:#15181d}
.umbel-network .lost{fill:#15181d;stroke:#ff9a4d}
.umbel-network text{fill:#e6e8eb;stroke:#15181d}
}
`
